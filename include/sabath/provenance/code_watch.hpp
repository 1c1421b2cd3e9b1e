#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/spec/code_state.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::provenance {

/// Watches whether the code of a recipe is still as planned, while users may edit its folder.
/// Thread safety: any thread.
class CodeWatch {
 public:
  /// Result of a check of the folder.
  struct Look {
    bool is_planned = true;
    std::size_t changes = 0;  ///< that were seen since it was planned
  };

  CodeWatch(const spec::RunPlan& plan, const spec::Recipe& recipe);

  /// Checks the folder before or after a stage, and warns of a change, which `seen` dates. Skips
  /// stages that do not name the folder: they do not depend on it.
  Look look(const std::string& stage, const std::string& seen, base::Observer& observer);
  std::vector<spec::CodeChange> changes() const;

 private:
  /// The current digest, or nothing if the folder was not changed since the last check.
  std::optional<std::string> changed_digest(std::vector<std::string>& files);

  std::filesystem::path folder_{};  ///< empty: none is named
  std::filesystem::path state_directory_;
  std::string planned_{};
  std::set<std::string> stages_{};  ///< that name it
  mutable std::mutex mutex_{};
  std::string last_{};  ///< its digest when it was looked at last
  std::map<std::string, std::string> stamps_{};
  bool is_settled_ = false;
  std::vector<spec::CodeChange> changes_{};
};

/// Adds the seen changes to the `code_state` of plan and record.
void note_changes(const CodeWatch& watch, spec::RunPlan& plan, spec::RunRecord& record);
/// The items of a run's facet `code` for such changes.
std::map<std::string, std::string> change_items(const std::vector<spec::CodeChange>& changes);

}  // namespace sabath::provenance
