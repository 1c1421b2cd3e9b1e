#pragma once

#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/stage_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// Outputs of the stages that have ended, by the name of the stage.
using MadeOutputs = std::map<std::string, std::vector<spec::OutputRecord>>;

/// Returns the stages whose outputs a stage can see. These are the stages that it needs, and those
/// that it names and needs through others. Where it names the directory of the run, these are all
/// of `made`. True: its command has the path of their outputs, so that it may read everything
/// there.
std::map<std::string, bool> used_by(const spec::PlannedStage& stage, const MadeOutputs& made);

/// Returns the files, and links, that a declared output stands for, sorted. It is the path itself
/// where it is neither a folder nor a pattern. Throws Error{usage} for more than 20,000.
std::vector<std::string> files_of(const std::filesystem::path& folder, const std::string& declared);

/// Returns the first files of a stage's output directory that are not among its `outputs`, as "'a',
/// 'b'"; empty where there are none.
std::string undeclared_in(const std::filesystem::path& folder,
                          const std::vector<std::string>& outputs);

/// Returns true for "metrics-<rank>.jsonl", the file that a rank appends to.
bool is_metrics_file(const std::string& name);
/// Returns how much the ranks of a stage have reported; a new file adds to it.
std::uintmax_t metrics_size(const std::filesystem::path& folder);

}  // namespace sabath::execution
