#pragma once

#include <sabath/spec/run_plan.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::app {

/// The stages whose outputs a stage can see: those that it needs, and those that it names and needs
/// through others. True: its command says where their outputs lie, so that it may read all that is
/// there.
std::map<std::string, bool> used_by(const spec::PlannedStage& stage);

/// "'a', 'b'": the first files of a stage's output folder that are none of its `outputs`; empty
/// where there are none.
std::string undeclared_in(const std::filesystem::path& folder,
                          const std::vector<std::string>& outputs);

/// "metrics-<rank>.jsonl": what a rank appends to.
bool is_metrics_file(const std::string& name);
/// How much the ranks of a stage have reported; more with each new file.
std::uintmax_t metrics_size(const std::filesystem::path& folder);

}  // namespace sabath::app
