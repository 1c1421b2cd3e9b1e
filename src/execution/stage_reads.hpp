#pragma once

#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// The outputs of stages that have ended, by the name of the stage.
using MadeOutputs = std::map<std::string, std::vector<spec::OutputRecord>>;

/// The stages whose outputs a stage can see: those that it needs, those that it names and needs
/// through others, and all of `made` where it names the folder of the run. True: its command says
/// where their outputs lie, so that it may read all that is there.
std::map<std::string, bool> used_by(const spec::PlannedStage& stage, const MadeOutputs& made);

/// "'a', 'b'": the first files of a stage's output folder that are none of its `outputs`; empty
/// where there are none.
std::string undeclared_in(const std::filesystem::path& folder,
                          const std::vector<std::string>& outputs);

/// "metrics-<rank>.jsonl": what a rank appends to.
bool is_metrics_file(const std::string& name);
/// How much the ranks of a stage have reported; more with each new file.
std::uintmax_t metrics_size(const std::filesystem::path& folder);

}  // namespace sabath::execution
