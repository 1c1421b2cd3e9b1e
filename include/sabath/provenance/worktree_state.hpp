#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::provenance {

/// State of the repository around a run's recipe folder, as far as the run kept it. Has "the
/// commit", and by path each file or submodule that differs from it, with a text that identifies
/// its state. Empty if the run has no state of git. Leaves out the recipe folder, which the facet
/// `code` has.
std::map<std::string, std::string> worktree_state(const spec::RunRecord& record,
                                                  const std::filesystem::path& run_directory);

}  // namespace sabath::provenance
