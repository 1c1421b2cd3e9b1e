#pragma once

#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::batch {

/// Returns what a stage's job asks for at a site: the stage's value, else the site's. `time` and
/// `silence` stay the stage's own.
spec::Resources resources_at(const spec::Site& site, const spec::Resources& stage);

/// Returns the jobs that execute `stages` at a site. Stages that want the same machine share one,
/// as far as their needs allow. Each job comes after, or with, those that it needs. A stage that is
/// not due joins another; where none is due, there is one step. The time of a step is the sum of
/// its stages' limits with all tries, and room for exec itself. Where a stage has no limit it is
/// the site's, if that is longer; else nothing.
std::vector<spec::BatchStep> steps_of(const std::vector<spec::PlannedStage>& stages,
                                      const spec::Site& site);

/// The same for a scheduler: one step where it cannot make jobs wait for each other.
std::vector<spec::BatchStep> steps_at(const std::vector<spec::PlannedStage>& stages,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler);

/// Runs of one study share their steps: a stage is due if it is due in one of them. `stages` and
/// `others` are those of two runs of one recipe.
void join_due(std::vector<spec::PlannedStage>& stages,
              const std::vector<spec::PlannedStage>& others);

/// Returns the comment by which the scheduler's job of a step (from 1) is found again.
std::string comment_of(const spec::BatchPlan& plan, std::size_t step);

/// Returns "steps 2 to 3 were never handed in" for a batch whose first `known` jobs the scheduler
/// has, and that gets no more.
std::string never_handed_in(const spec::BatchPlan& plan, std::size_t known);

}  // namespace sabath::batch
