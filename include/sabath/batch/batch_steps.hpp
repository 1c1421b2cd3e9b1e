#pragma once

#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <vector>

namespace sabath::batch {

/// What a stage's job asks for at a site: what the stage says, else what the site says. `time` and
/// `silence` stay the stage's own.
spec::Resources resources_at(const spec::Site& site, const spec::Resources& stage);

/// The jobs that execute `stages` at a site. Stages that want the same machine share one, as far as
/// their needs let them; each comes after, or with, those that it needs. A stage that is not due
/// asks for nothing and joins another; where all are, there is one step. The time of a step is the
/// sum of what its stages may take with all their tries, where all of them say that, and room for
/// what exec does itself; else the site's, where that is longer; nothing where nobody says.
std::vector<spec::BatchStep> steps_of(const std::vector<spec::PlannedStage>& stages,
                                      const spec::Site& site);

/// The same for a scheduler: where it cannot make jobs wait for each other, all in one.
std::vector<spec::BatchStep> steps_at(const std::vector<spec::PlannedStage>& stages,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler);

/// Runs of one study share their steps: what is due in one of them is due. `stages` and `others`
/// are those of two runs of one recipe.
void join_due(std::vector<spec::PlannedStage>& stages,
              const std::vector<spec::PlannedStage>& others);

}  // namespace sabath::batch
