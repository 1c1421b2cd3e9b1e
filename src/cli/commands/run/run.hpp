#pragma once

#include "commands.hpp"

#include <sabath/app/run_study.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/spec/study.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cli {

struct RunOptions {
  std::string recipe{};
  std::vector<std::string> command{};  ///< further words of a command that has no recipe
  std::vector<std::string> set{};
  std::string parameters{};  ///< a file in the benchmark's own format
  std::optional<std::uint64_t> seed{};
  std::optional<int> repeat{};
  std::string perturb{};  ///< "1ulp"
  std::vector<std::string> tags{};
  std::string variant{};
  std::string task{};
  std::string stop_when_diverged{};
  // of studies
  std::vector<std::string> sweep{};
  std::string seeds{};
  std::string study{};
  std::string jobs{};
  std::string resume{};
  // at a site
  std::string on{};
  std::string prepare{};
  std::optional<int> pack{};
  // of one run of this machine
  std::optional<int> cpus{};
  std::optional<int> gpus{};
  bool fresh = false;
  bool dry_run = false;
  bool offline = false;
  bool zip = false;
  bool retry = false;
  bool take_over = false;
  bool detach = false;
};

/// What they ask for. Throws Error{usage|not_found}.
planning::RunRequest request_from(const RunOptions& options, Workspace& workspace);

/// The options that `run` shares with `check`: which runs, where.
void add_run_options(OptionParser& command, RunOptions& options);

/// Throws Error{usage} that names `option` for text that no document could have.
void require_utf8(std::string_view option, const std::string& text);

/// NAME=VALUE of each text. Throws Error{usage} that names `option`.
std::map<std::string, std::string> assignments(std::string_view option,
                                               const std::vector<std::string>& texts);

/// How a run ended, where it lies, and what does it again.
std::string outcome_answer(const execution::RunOutcome& outcome);

/// Do they say which runs are made, or where? Without --jobs, which a study that exists takes too.
bool has_run_options(const RunOptions& options);

/// Is more than one run asked for, or a study by its name?
bool asks_for_study(const RunOptions& options);

/// The runs that the options ask for: one where they ask for no study. Throws Error{usage}.
std::vector<spec::StudyPoint> points_of(const RunOptions& options,
                                        const planning::RunRequest& request);

/// Notes each --sweep that has one list only: ',' separates its items. After `points_of`.
void note_single_lists(const RunOptions& options,
                       const planning::RunRequest& request,
                       base::Observer& observer);

/// --jobs as a number; 0: as many as fit. Throws Error{usage}.
int jobs_of(const RunOptions& options);

/// Whether the words after `run` are a command, after "--".
bool is_direct(const RunOptions& options);
/// `run -- COMMAND`: records a run of a command without a recipe. Returns the exit status.
int run_direct(const RunOptions& options, Workspace& workspace);

/// Binds one run of this machine to a part of it.
void set_place(const RunOptions& options, planning::RunRequest& request, Workspace& workspace);

int show_dry_run(const RunOptions& options,
                 const planning::RunRequest& request,
                 const std::vector<spec::StudyPoint>& points,
                 Workspace& workspace);

/// Says what such a study can show, before it is started and not after.
void note_power(const planning::RunRequest& request,
                const std::vector<spec::StudyPoint>& points,
                Workspace& workspace);
int run_new_study(const RunOptions& options,
                  const planning::RunRequest& request,
                  const std::vector<spec::StudyPoint>& points,
                  Workspace& workspace);
int resume_study(const RunOptions& options, Workspace& workspace);
/// The words after `sabath` that ask for such runs, as far as it matters what is made ready.
std::vector<std::string> arguments_of(const RunOptions& options,
                                      const planning::RunRequest& request);
/// What is made ready for the runs; by a job of the site in use where that says so, which is asked
/// by `arguments` and --prepare.
planning::PreparedRecipe make_ready(const planning::RunRequest& request,
                                    const std::vector<spec::StudyPoint>& points,
                                    const std::string& site,
                                    const std::vector<std::string>& arguments,
                                    Workspace& workspace);
int keep_prepared(const planning::PreparedRecipe& prepared,
                  const std::string& file,
                  Workspace& workspace);
/// The site with the limit of a study's `jobs`, which never loosens its own.
spec::Site site_for(const std::string& name, int jobs, Workspace& workspace);
/// The jobs that this would be at the site of the options, none without one; throws Error{usage}
/// where it cannot be. Before anything is fetched or built for them.
std::vector<spec::BatchStep> check_jobs(const RunOptions& options,
                                        const planning::RunRequest& request,
                                        const std::vector<spec::StudyPoint>& points,
                                        Workspace& workspace);
int run_at_site(const RunOptions& options,
                const planning::RunRequest& request,
                Workspace& workspace);
/// One run of what was asked for there, until it is over; nothing where the user ends the waiting.
std::optional<execution::RunOutcome> run_once_at_site(const planning::RunRequest& request,
                                                      const std::string& site,
                                                      Workspace& workspace);
/// Submits what of a study is not done, and waits. Returns false where the user ends the wait,
/// after a note on how to come back.
bool hand_in_and_follow(const home::StudyFiles& files,
                        const spec::StudyPlan& plan,
                        const planning::PreparedRecipe& prepared,
                        const RunOptions& options,
                        Workspace& workspace);

/// A study that was run for another purpose than its own answer.
struct CarriedOut {
  analysis::StudyOutcome study{};
  bool over = false;  ///< else the user ended it
};

/// What the options ask for as a study "RECIPE-NAME-...", even if it is one run; here or at a site.
CarriedOut carry_out(const RunOptions& options,
                     const planning::RunRequest& request,
                     const std::string& name,
                     Workspace& workspace);

}  // namespace sabath::cli
