#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/provenance/file_digests.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::planning {

/// The variables that a stage inherits of `user`, before those of its environment and its own. A
/// cached stage does not see what belongs to the session that sabath was started in.
base::Environment inherited_by(const spec::PlannedStage& stage, base::Environment user);

/// What a cached stage depends on that the plan cannot know, as it is on this node now: items of
/// its key beside PlannedStage::key_items (docs/formats/recipe.md, "Cached stages").
class StageSurroundings {
 public:
  /// `inherited` as inherited_by returns it; all must outlive this.
  StageSurroundings(const spec::RunPlan& plan,
                    const std::filesystem::path& run_directory,
                    const base::Environment& inherited,
                    base::Observer& observer);

  /// Reads every file that the stage's command names, unless it is known from an earlier time and
  /// was not touched since. Throws Error{storage|interrupted}.
  std::map<std::string, std::string> key_items(const spec::PlannedStage& stage,
                                               const std::stop_token& stop);
  /// As it is now; in words where it cannot be read. The same.
  std::string digest_of(const std::filesystem::path& file, const std::stop_token& stop);

 private:
  bool is_named_elsewhere(const std::filesystem::path& file, const spec::PlannedStage& stage) const;
  std::string variables_of(const spec::PlannedStage& stage) const;

  const spec::RunPlan& plan_;
  const std::filesystem::path& run_directory_;
  const base::Environment& inherited_;
  base::Observer& observer_;
  provenance::FileDigests digests_;
};

}  // namespace sabath::planning
