#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
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

struct SubmitTools {
  planning::RecipePreparer& preparer;
  const home::Folders& folders;
  const spec::Site& site;
  launch::Scheduler& scheduler;
  std::filesystem::path program{};  ///< this sabath
  base::Clock& clock;
  base::Observer& observer;
};

/// Returns the request as one of a site.
planning::RunRequest at_site(planning::RunRequest request, const spec::Site& site);

/// Returns the jobs of a run of `request`, or of each `pack` of a study's `points`. Makes nothing.
/// Throws Error{usage} where the scheduler would not be asked for all that they want.
std::vector<spec::BatchStep> jobs_for(const planning::RunRequest& request,
                                      const std::vector<spec::StudyPoint>& points,
                                      int pack,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler);

/// Throws Error{usage} where the scheduler cannot keep the site's `at_once` for `runs` runs. Asks
/// how large its arrays may be where the site does not say.
void check_at_once(std::size_t runs,
                   int pack,
                   const spec::Site& site,
                   launch::Scheduler& scheduler,
                   const std::stop_token& stop);

/// Plans one run of what was prepared, and submits it. Returns its id. Closes a run that the
/// scheduler refuses, and throws the refusal.
std::string submit_run(const planning::PreparedRecipe& prepared,
                       const SubmitTools& tools,
                       const std::stop_token& stop);

/// Plans a run for each of `points` (indices) and submits them: as one array, or as many as the
/// site's limit needs. Finishes batches of the study first that an earlier process began to submit.
/// Returns the ids, in the order of `points`.
std::vector<std::string> submit_points(const home::StudyFiles& files,
                                       const spec::StudyPlan& study,
                                       const std::vector<std::size_t>& points,
                                       const planning::PreparedRecipe& prepared,
                                       const SubmitTools& tools,
                                       const std::stop_token& stop);

}  // namespace sabath::batch
