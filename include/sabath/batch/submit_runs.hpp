#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/launch/scheduler.hpp>
#include <sabath/planning/recipe_preparer.hpp>
#include <sabath/spec/site.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// What handing runs to a scheduler takes.
struct SubmitTools {
  planning::RecipePreparer& preparer;
  const home::Folders& folders;
  const spec::Site& site;
  launch::Scheduler& scheduler;
  std::filesystem::path program{};  ///< this sabath
  base::Clock& clock;
};

/// What a request needs to be one of a site's.
planning::RunRequest at_site(planning::RunRequest request, const spec::Site& site);

/// The variables of `shell` that runs on this machine depend on, and that reach no job of the site.
std::vector<std::string> left_behind(const base::Environment& shell, const spec::Site& site);

/// The jobs that a run of `request`, or each `pack` of a study's `points`, would be. Throws
/// Error{usage} where the scheduler would not be asked for all that they want. Nothing is made.
std::vector<spec::BatchStep> jobs_for(const planning::RunRequest& request,
                                      const std::vector<spec::StudyPoint>& points,
                                      int pack,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler);

/// Throws Error{usage} where the scheduler cannot be held to the site's `at_once` for so many runs.
/// How large its arrays may be is asked where the site does not say.
void check_at_once(std::size_t runs,
                   int pack,
                   const spec::Site& site,
                   launch::Scheduler& scheduler,
                   const std::stop_token& stop);

/// Plans one run of what was prepared, and hands it in. Returns its id. A run that the scheduler
/// refuses is closed, and the refusal thrown.
std::string submit_run(const planning::PreparedRecipe& prepared,
                       const SubmitTools& tools,
                       const std::stop_token& stop);

/// Plans a run for each of `points` (indices) and hands them in: one array, or as many as the
/// site's limit makes it. Batches of the study that an earlier process began to hand in are
/// finished first. Returns the ids, in the order of `points`.
std::vector<std::string> submit_points(const home::StudyFiles& files,
                                       const spec::StudyPlan& study,
                                       const std::vector<std::size_t>& points,
                                       const planning::PreparedRecipe& prepared,
                                       const SubmitTools& tools,
                                       base::Observer& observer,
                                       const std::stop_token& stop);

}  // namespace sabath::batch
