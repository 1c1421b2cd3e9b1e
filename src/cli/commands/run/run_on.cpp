#include "run.hpp"
#include "watching.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/submit_runs.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/planning/recipe_preparer.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::cli {
namespace {

using spec::RunState;

batch::SubmitTools tools_for(const spec::Site& site, Workspace& workspace) {
  return {workspace.runner().preparer(),
          workspace.folders(),
          site,
          workspace.monitor(site).scheduler(),
          program_path(),
          workspace.clock(),
          workspace.observer()};
}

/// Names variables that runs on this machine depend on, and that reach no job of the site.
void note_left_behind(const spec::Site& site, Workspace& workspace) {
  std::vector<std::string> names;
  for (const auto& [name, value] : base::current_environment()) {
    if (home::is_tuning_variable(name) && !site.variables.contains(name)) names.push_back(name);
  }
  if (names.empty()) return;
  const std::string text = base::printable(fmt::format("{}", fmt::join(names, ", ")));
  workspace.observer().note(text + " of this shell " + (names.size() == 1 ? "does" : "do") +
                            " not reach jobs: set it in the \"variables\" of site '" + site.name +
                            "', or in the recipe");
}

/// Waits for runs that were handed in, unless they are only to be handed in. True when they are
/// over.
bool follow(batch::RunWatch& watch, const std::string& what, bool detach, Workspace& workspace) {
  const WaitEnd end = detach ? WaitEnd::timed_out : wait_for(watch, std::nullopt, workspace);
  keep_seen(watch, workspace);
  if (end == WaitEnd::over) return true;
  workspace.observer().note("'sabath status " + what + "' says how far it is, 'sabath wait " +
                            what + "' waits, 'sabath cancel " + what + "' ends it");
  return false;
}

/// Those of a study that still want a run: nobody executes them, and they are not settled.
std::vector<std::size_t> open_points(const analysis::StudyOutcome& study,
                                     const batch::RunWatch& watch,
                                     bool retry) {
  std::map<std::string, RunState> seen;
  for (const batch::WatchedRun& run : watch.runs())
    seen[run.run_id] = run.state;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto& newest = study.points[i].run;
    if (newest) {
      const auto now = seen.find(newest->run_id);
      const RunState state = now == seen.end() ? newest->state : now->second;
      const bool goes_on = state == RunState::planned || state == RunState::running;
      const bool is_done = analysis::is_settled(state) && !(state == RunState::failed && retry);
      if (goes_on || is_done) continue;
    }
    open.push_back(i);
  }
  return open;
}

/// Environments can take long to build, and jobs long to begin.
constexpr std::chrono::hours longest_wait{24 * 7};

planning::PreparedRecipe make_ready_in_job(const planning::RunRequest& request,
                                           const spec::Site& site,
                                           const std::vector<std::string>& arguments,
                                           Workspace& workspace) {
  const auto parent = workspace.folders().state() / "prepare";
  base::make_directories(parent);
  const base::TempDir folder(parent);
  const auto file = folder.path() / "ready.json";
  launch::BatchJob job;
  job.name = "sabath-prepare";
  job.comment = launch::job_word("sabath-prepare-" + folder.path().filename().string());
  job.script = folder.path() / "job.sh";
  job.log = folder.path() / "job.log";
  job.argv = {site.program.empty() ? program_path().string() : site.program};
  for (const std::filesystem::path& catalog : workspace.folders().catalogs)
    job.argv.insert(job.argv.end(), {"--catalog", catalog.string()});
  job.argv.insert(job.argv.end(), arguments.begin(), arguments.end());
  job.argv.insert(job.argv.end(), {"--prepare", file.string()});
  const bool resumes = arguments.size() > 1 && arguments[1] == "--resume";
  const auto variants = workspace.runner().preparer().environments_of(request.recipe).variants;
  const bool has_variant = std::ranges::find(variants, site.variant) != variants.end();
  if (!resumes && request.variant.empty() && has_variant)
    job.argv.insert(job.argv.end(), {"--variant", site.variant});
  if (!resumes && request.offline) job.argv.emplace_back("--offline");
  job.resources = site.resources;
  const std::string id = workspace.monitor(site).scheduler().submit(job, workspace.stop());
  workspace.observer().note("job " + id + " of '" + site.name + "' makes everything ready");
  const auto failed = planning::unprepared(file);
  const AwaitedJob awaited = await_file({file, failed}, id, site, longest_wait, false, workspace);
  const std::string place = "job " + id + " of '" + site.name + "': ";
  std::error_code code;
  if (std::filesystem::exists(file, code)) return planning::read_prepared(file, request);
  if (std::filesystem::exists(failed, code)) throw planning::read_unprepared(file, place);
  const std::string fate = awaited.has_ended ? "it has ended" : cancel_job(id, site, workspace);
  if (!awaited.has_ended || workspace.stop().stop_requested())
    throw base::Error(base::ErrorKind::interrupted, place + "nothing is ready; " + fate);
  throw base::Error(base::ErrorKind::environment,
                    place + "ended (" + awaited.view.state +
                        ") and nothing is ready: " + home::last_words(job.log),
                    "'sabath doctor --site " + site.name + "' checks what its nodes see");
}

}  // namespace

planning::PreparedRecipe make_ready(const planning::RunRequest& request,
                                    const std::vector<spec::StudyPoint>& points,
                                    const std::string& site,
                                    const std::vector<std::string>& arguments,
                                    Workspace& workspace) {
  if (!site.empty()) {
    const spec::Site chosen = workspace.site(site);
    if (chosen.build_in_job) return make_ready_in_job(request, chosen, arguments, workspace);
  }
  return workspace.runner().preparer().prepare(
      request, workspace.observer(), workspace.stop(), planning::settings_of(points));
}

int keep_prepared(const planning::PreparedRecipe& prepared,
                  const std::string& file,
                  Workspace& workspace) {
  planning::write_prepared(file, prepared);
  workspace.observer().note("the prepared runs are in " + file);
  return exit_done;
}

spec::Site site_for(const std::string& name, int jobs, Workspace& workspace) {
  spec::Site site = workspace.site(name);
  if (jobs > 0) site.at_once = site.at_once > 0 ? std::min(site.at_once, jobs) : jobs;
  return site;
}

std::vector<spec::BatchStep> check_jobs(const RunOptions& options,
                                        const planning::RunRequest& request,
                                        const std::vector<spec::StudyPoint>& points,
                                        Workspace& workspace) {
  if (options.on.empty()) return {};
  const int jobs = options.jobs.empty() ? 0 : jobs_of(options);
  const spec::Site site = site_for(options.on, jobs, workspace);
  const int pack = options.pack.value_or(1);
  std::vector<spec::BatchStep> steps =
      batch::jobs_for(request, points, pack, site, workspace.sites().scheduler(site.scheduler));
  if (site.at_once > 0) {
    batch::check_at_once(
        points.size(), pack, site, workspace.monitor(site).scheduler(), workspace.stop());
  }
  return steps;
}

int run_at_site(const RunOptions& options,
                const planning::RunRequest& request,
                Workspace& workspace) {
  workspace.use_site(options.on);
  const spec::Site site = site_for(options.on, 0, workspace);
  batch::jobs_for(request, {}, 1, site, workspace.sites().scheduler(site.scheduler));
  const planning::PreparedRecipe prepared =
      make_ready(request, {}, site.name, arguments_of(options, request), workspace);
  if (!options.prepare.empty()) return keep_prepared(prepared, options.prepare, workspace);
  const std::string id = batch::submit_run(prepared, tools_for(site, workspace), workspace.stop());
  note_left_behind(site, workspace);
  workspace.index_runs();
  workspace.observer().note("run " + id + ": handed to '" + site.name + "'");
  const auto seen = watch(runs_to_watch({id}, workspace), workspace);
  const bool over = follow(*seen, id, options.detach, workspace);
  const batch::WatchedRun& run = seen->runs().front();
  const execution::RunOutcome outcome{run.run_id, run.directory, run.state, run.detail};
  workspace.answer(workspace.json() ? json_answer(std::vector{outcome})
                   : over           ? outcome_answer(outcome)
                                    : watch_text(seen->runs(), false));
  if (over) return exit_status(outcome.state);
  return workspace.stop().stop_requested() ? exit_interrupted : exit_done;
}

std::optional<execution::RunOutcome> run_once_at_site(const planning::RunRequest& request,
                                                      const std::string& name,
                                                      Workspace& workspace) {
  workspace.use_site(name);
  const spec::Site site = site_for(name, 1, workspace);
  batch::jobs_for(request, {}, 1, site, workspace.sites().scheduler(site.scheduler));
  const planning::PreparedRecipe prepared =
      workspace.runner().preparer().prepare(request, workspace.observer(), workspace.stop());
  const std::string id = batch::submit_run(prepared, tools_for(site, workspace), workspace.stop());
  workspace.refresh_catalog();  // which was opened to find what is done again
  workspace.observer().note("run " + id + ": handed to '" + site.name + "'");
  const auto seen = watch(runs_to_watch({id}, workspace), workspace);
  if (!follow(*seen, id, false, workspace)) return std::nullopt;
  const batch::WatchedRun& run = seen->runs().front();
  return execution::RunOutcome{run.run_id, run.directory, run.state, run.detail};
}

bool hand_in_and_follow(const home::StudyFiles& files,
                        const spec::StudyPlan& plan,
                        const planning::PreparedRecipe& prepared,
                        const RunOptions& options,
                        Workspace& workspace) {
  const spec::Site site = site_for(*plan.site, plan.jobs, workspace);
  files.become_driver(options.take_over);
  std::vector<batch::WatchedRun> runs;
  if (!files.runs().empty()) runs = runs_to_watch({plan.study_id}, workspace);
  const auto before = watch(std::move(runs), workspace);
  before->look(workspace.stop());
  const analysis::StudyOutcome study = analysis::look_at_study(files, workspace.folders());
  const auto points = open_points(study, *before, options.retry);
  if (site.at_once > 0 && before->going_on() > 0 && !points.empty()) {
    workspace.observer().warn(
        std::to_string(before->going_on()) + " run(s) that were submitted before are not over",
        "the limit of " + std::to_string(site.at_once) +
            " at once counts only the runs that are submitted now");
  }
  batch::submit_points(files, plan, points, prepared, tools_for(site, workspace), workspace.stop());
  workspace.refresh_catalog();
  if (!points.empty()) {
    note_left_behind(site, workspace);
    workspace.observer().note(std::to_string(points.size()) + " run(s) handed to '" + site.name +
                              "'");
  }
  const auto seen = watch(runs_to_watch({plan.study_id}, workspace), workspace);
  return follow(*seen, plan.study_id, options.detach, workspace);
}

}  // namespace sabath::cli
