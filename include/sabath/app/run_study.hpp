#pragma once

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/spec/study.hpp>

#include <stop_token>

namespace sabath::app {

struct StudyTools {
  RecipeRunner& runner;
  const home::Folders& folders;
  base::ProcessRunner& processes;
  base::Clock& clock;
  base::Observer& observer;
};

/// How a study is resumed.
struct Resumption {
  bool retry = false;      ///< failed points count as open
  bool take_over = false;  ///< a driver and runs on another machine without a sign are gone
};

/// Returns how many runs of the recipe run at a time, of `jobs` that were requested (0: as many as
/// fit). Throws Error{usage} where they do not fit on this machine.
std::size_t runs_at_a_time(const spec::Recipe& recipe, int jobs, const StudyTools& tools);

/// Runs the open points of a study: those without a run, with an interrupted or lost one, and with
/// `retry` those that failed, as new runs. Waits for a run that is still executed and starts no
/// other of its point; beside a run that has the whole machine it starts none. Runs get cores that
/// no other run of this user has on this machine, as far as there are some. After a stop, ends the
/// running runs and waits for them. Throws other causes of an early end (a full disk) once all runs
/// are over.
analysis::StudyOutcome run_study(const home::StudyFiles& files,
                                 const spec::StudyPlan& plan,
                                 const planning::PreparedRecipe& prepared,
                                 const Resumption& resumption,
                                 const StudyTools& tools,
                                 std::stop_token stop);

}  // namespace sabath::app
