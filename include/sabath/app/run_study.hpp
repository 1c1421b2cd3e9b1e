#pragma once

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/spec/study.hpp>

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

struct StudyTools {
  RecipeRunner& runner;
  const home::Folders& folders;
  base::ProcessRunner& processes;
  base::Clock& clock;
};

/// How a study is gone on with.
struct Resumption {
  bool retry = false;      ///< failed points count as open
  bool take_over = false;  ///< a driver and runs on another machine that give no sign are gone
};

/// How many runs of the recipe go at a time, of `jobs` that were asked for (0: as many as fit).
/// Throws Error{usage} where they do not fit on this machine.
std::size_t runs_at_a_time(const spec::Recipe& recipe, int jobs, const StudyTools& tools);

/// Runs what of a study is not done: points that have no run, or whose newest was interrupted or
/// lost, and with `retry` those that failed, as new runs. A run that somebody still executes is
/// waited for, and no other of its point is started; beside one that has the whole machine none at
/// all. Runs get cores that no other run of this user has on this machine, as far as there are
/// some. After a stop the runs under way are ended and waited for; what else ends it early (a full
/// disk) is thrown once they are over.
analysis::StudyOutcome run_study(const home::StudyFiles& files,
                                 const spec::StudyPlan& plan,
                                 const planning::PreparedRecipe& prepared,
                                 const Resumption& resumption,
                                 const StudyTools& tools,
                                 base::Observer& observer,
                                 std::stop_token stop);

}  // namespace sabath::app
