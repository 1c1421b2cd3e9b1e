#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::provenance {

/// Sees whether the code of a recipe is still what was planned, while people go on working in its
/// folder. All members may be called from any thread.
class CodeWatch {
 public:
  /// How the folder was found.
  struct Look {
    bool is_planned = true;
    std::size_t changes = 0;  ///< that were seen since it was planned
  };

  CodeWatch(const spec::RunPlan& plan, const spec::Recipe& recipe);

  /// A change is told to the observer. The folder is looked at only for a stage that names it:
  /// others do not depend on it.
  Look before(const std::string& stage, base::Observer& observer);
  Look after(const std::string& stage, base::Observer& observer);
  std::vector<spec::CodeChange> changes() const;

 private:
  Look look(const std::string& stage, const std::string& seen, base::Observer& observer);
  /// The digest as it is now, or nothing: it was not changed since it was looked at last.
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

/// Adds what was seen to the plan's `code_state`, which the record has then too.
void note_changes(const CodeWatch& watch, spec::RunPlan& plan, spec::RunRecord& record);
/// What a run's facet `code` says of such changes.
std::map<std::string, std::string> change_items(const std::vector<spec::CodeChange>& changes);

}  // namespace sabath::provenance
