#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/provenance/file_digests.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

namespace sabath::planning {

/// Returns the variables that a stage inherits from `user`, before those of its environment and its
/// own. A cached stage does not see the session that sabath was started in.
base::Environment inherited_by(const spec::PlannedStage& stage, base::Environment user);

/// State of this node that a cached stage depends on and the plan cannot know: items of its key
/// beside PlannedStage::key_items (docs/formats/recipe.md, "Cached stages").
class StageSurroundings {
 public:
  /// `inherited` as inherited_by returns it. All arguments must outlive this.
  StageSurroundings(const spec::RunPlan& plan,
                    const std::filesystem::path& run_directory,
                    const base::Environment& inherited,
                    base::Observer& observer);

  /// Reads every file that the stage's command names, unless it is known and was not touched since.
  /// Throws Error{storage|interrupted}.
  std::map<std::string, std::string> key_items(const spec::PlannedStage& stage,
                                               const std::stop_token& stop);
  /// Returns the digest as of now; in words where the file cannot be read. Throws as key_items.
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
