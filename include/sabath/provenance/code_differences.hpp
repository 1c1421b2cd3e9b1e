#pragma once

#include <sabath/spec/comparison.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::provenance {

/// A run's record and folder.
struct CodeSide {
  const spec::RunRecord& record;
  std::filesystem::path run_directory{};
};

/// Fills in the files that differ between the code of two runs of one recipe, if their facets
/// differ. Uses the code that both kept, if it still matches the records; else their recipe
/// documents, with the reason in `code_note`. Ignores files that cannot be read: they change no
/// verdict.
void add_code_differences(const CodeSide& a, const CodeSide& b, spec::Comparison& comparison);

/// State of the repository around a run's recipe folder, as far as the run kept it. Has "the
/// commit", and by path each file or submodule that differs from it, with a text that identifies
/// its state. Empty if the run has no state of git. Leaves out the recipe folder, which the facet
/// `code` has.
std::map<std::string, std::string> worktree_state(const spec::RunRecord& record,
                                                  const std::filesystem::path& run_directory);

}  // namespace sabath::provenance
