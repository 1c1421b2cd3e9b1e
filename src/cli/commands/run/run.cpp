#include "run.hpp"

#include "selected_runs.hpp"

#include <sabath/analysis/whole_values.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/parameter_file.hpp>
#include <sabath/planning/recipe_preparer.hpp>
#include <sabath/planning/reference_run.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>

namespace sabath::cli {
namespace {

/// A recipe's name, or its path where the name would not be found without more.
std::string lasting_name(const std::string& given, const spec::Recipe& recipe, bool catalogs) {
  const bool by_path = !base::is_safe_name(given) || given.ends_with(".json");
  if (by_path) return std::filesystem::canonical(given).string();
  return catalogs ? recipe.directory.string() : given;
}

int run_once(const RunOptions& options, const planning::RunRequest& request, Workspace& workspace) {
  if (!options.prepare.empty()) {
    return keep_prepared(make_ready(request, {}, "", {}, workspace), options.prepare, workspace);
  }
  const execution::RunOutcome outcome =
      workspace.runner().run(request, workspace.observer(), workspace.stop());
  workspace.index_runs();
  workspace.answer(workspace.json() ? json_answer(std::vector{outcome}) : outcome_answer(outcome));
  return exit_status(outcome.state);
}

void refuse_beside_resume(const RunOptions& options) {
  const bool more = !options.recipe.empty() || has_run_options(options) || options.fresh ||
                    options.dry_run || options.cpus || options.gpus;
  if (!more) return;
  throw usage_error(
      "--resume: continues a study as it was requested; it can be used only with --jobs, --retry, "
      "--take-over and --detach",
      "a new study has its own recipe and options");
}

void check_site_options(const RunOptions& options) {
  if (!options.on.empty()) return;
  if (options.detach || options.pack) {
    throw usage_error(std::string(options.detach ? "--detach" : "--pack") + ": needs --on SITE",
                      "without a site, runs execute on this machine and sabath waits for them");
  }
}

int run_what_is_asked(const RunOptions& options, Workspace& workspace) {
  if (is_direct(options)) return run_direct(options, workspace);
  if (!options.command.empty()) {
    throw usage_error("run: takes one recipe, and a command only after --",
                      base::shown_command({"sabath", "run", "--", options.recipe}) + " ...");
  }
  jobs_of(options);  // refuses what is not a number, of one run too
  if (!options.resume.empty()) {
    refuse_beside_resume(options);
    return resume_study(options, workspace);
  }
  if (options.recipe.empty()) {
    throw usage_error("run: a recipe is missing", "'sabath list recipes' shows what there is");
  }
  if (options.retry || options.take_over) {
    throw usage_error(std::string(options.retry ? "--retry" : "--take-over") + ": needs --resume");
  }
  planning::RunRequest request = request_from(options, workspace);
  const std::vector<spec::StudyPoint> points = points_of(options, request);
  note_single_lists(options, request, workspace.observer());
  check_site_options(options);
  set_place(options, request, workspace);
  if (options.dry_run) return show_dry_run(options, request, points, workspace);
  if (asks_for_study(options)) return run_new_study(options, request, points, workspace);
  return options.on.empty() ? run_once(options, request, workspace)
                            : run_at_site(options, request, workspace);
}

int run_run(const RunOptions& options, Workspace& workspace) {
  if (options.prepare.empty()) return run_what_is_asked(options, workspace);
  try {
    return run_what_is_asked(options, workspace);
  } catch (const base::Error& error) {
    // A failure is written at once for the reader of the file. A job may begin again what a signal
    // ended.
    if (error.kind() != base::ErrorKind::interrupted)
      planning::write_unprepared(options.prepare, error);
    throw;
  }
}

std::string why_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

}  // namespace

void set_place(const RunOptions& options, planning::RunRequest& request, Workspace& workspace) {
  if (!options.cpus && !options.gpus) return;
  const std::string option = options.cpus ? "--cpus" : "--gpus";
  if (!options.on.empty()) {
    throw usage_error(option + ": cannot be used with --on",
                      "the recipe's 'resources' and the site decide what a job gets");
  }
  if (asks_for_study(options)) {
    throw usage_error(option + ": works for one run only",
                      "--jobs divides the machine among the runs of a study");
  }
  request.placement.slots =
      planning::slots_of(options.cpus.value_or(0), options.gpus.value_or(0), workspace.processes());
}

planning::RunRequest request_from(const RunOptions& options, Workspace& workspace) {
  for (const std::string& tag : options.tags) {
    if (!base::is_safe_name(tag)) {
      throw usage_error("--tag: '" + base::printable(tag) + "' is not a name",
                        "lower-case letters, digits, '.', '_' and '-'");
    }
  }
  planning::RunRequest request;
  request.recipe = workspace.documents().recipe(options.recipe);
  request.named =
      lasting_name(options.recipe, request.recipe, !workspace.folders().catalogs.empty());
  request.set = assignments("--set", options.set);
  if (!options.parameters.empty())
    request.set.merge(planning::read_parameter_file(
        request.recipe, base::read_file(options.parameters), options.parameters));
  planning::resolve_parameters(
      request.recipe, request.set, options.recipe);  // before any folder is made
  request.seed = options.seed;
  request.tags = options.tags;
  request.fresh = options.fresh;
  request.variant = options.variant;
  request.task = options.task;
  planning::stages_of(request);
  // Refuses an unknown one, where the environment is the recipe's own.
  const spec::EnvironmentSpec& own = request.recipe.environment;
  if (!own.layers.empty() && !request.variant.empty()) own.select(request.variant);
  request.offline = options.offline;
  request.placement.elsewhere = !options.on.empty();
  if (options.offline) workspace.stay_offline();
  if (!options.stop_when_diverged.empty()) {
    request.reference = one_run(options.stop_when_diverged, workspace).directory;
    planning::check_reference(request.reference, request.recipe);
  }
  return request;
}

bool has_run_options(const RunOptions& options) {
  return !options.set.empty() || !options.parameters.empty() || options.seed || options.repeat ||
         !options.tags.empty() || !options.variant.empty() || !options.task.empty() ||
         !options.stop_when_diverged.empty() || options.offline || asks_for_study(options) ||
         !options.on.empty() || options.pack;
}

/// Conversion alone would take "-1" for the largest number there is.
std::string problem_of_seed(const std::string& text) {
  if (base::number_in<std::uint64_t>(text)) return {};
  return "a seed is a whole number from 0 to 18446744073709551615, not '" + base::printable(text) +
         "'";
}

void add_run_options(OptionParser& command, RunOptions& options) {
  command.add_option("--set", options.set, "NAME=VALUE: give a parameter another value")
      ->one_each();
  command
      .add_option("--parameters",
                  options.parameters,
                  "FILE in the benchmark's own format: its values of parameters; --set goes before")
      ->check(why_empty);
  auto* seed =
      command
          .add_option(
              "--seed", options.seed, "the seed of every run; without it each draws its own")
          ->check(&problem_of_seed);
  command.add_option("--repeat", options.repeat, "number of runs of each")->range(1, 1'000'000);
  command.add_option("--tag", options.tags, "a word to find the runs by")->one_each();
  command.add_option(
      "--variant", options.variant, "the environment's variant; else the site's, else the first");
  command.add_option(
      "--task", options.task, "the stages of one of the recipe's tasks, and what they need");
  command.add_flag("--offline", options.offline, "what is not in the cache is an error");
  command
      .add_option("--stop-when-diverged",
                  options.stop_when_diverged,
                  "RUN: stop a run as soon as its metrics are known to differ from this run's")
      ->check(why_empty);
  auto* sweep = command
                    .add_option("--sweep",
                                options.sweep,
                                "NAME=V1,V2,...: one run for each value; several are crossed")
                    ->one_each();
  command.add_flag("--zip", options.zip, "pair the values of --sweep instead of crossing them")
      ->needs(sweep);
  command.add_option("--seeds", options.seeds, "A..B or A,B,...: one run for each seed")
      ->check(why_empty)
      ->excludes(seed);
  command.add_option("--study", options.study, "a study that the recipe describes")
      ->check(why_empty)
      ->excludes(sweep);
  command.add_option("--jobs", options.jobs, "number of runs in parallel (1), or 'all' that fit")
      ->check(why_empty);
  command.add_option("--on", options.on, "hand the runs to the scheduler of this site")
      ->check(why_empty);
  command.add_option("--pack", options.pack, "with --on: number of runs of a study in each job")
      ->range(1, 100'000);
}

void require_utf8(std::string_view option, const std::string& text) {
  if (base::is_utf8(text)) return;
  throw usage_error(std::string(option) + ": '" + base::printable(text) +
                    "' is not UTF-8, so a record cannot hold it");
}

std::map<std::string, std::string> assignments(std::string_view option,
                                               const std::vector<std::string>& texts) {
  const std::string place = std::string(option) + ": '";
  std::map<std::string, std::string> set;
  for (const std::string& text : texts) {
    require_utf8(option, text);
    const auto sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw usage_error(place + base::printable(text) + "' is not NAME=VALUE",
                        "such as '" + std::string(option) + " epochs=10'");
    }
    const std::string name = text.substr(0, sign);
    if (!set.emplace(name, text.substr(sign + 1)).second) {
      throw usage_error(place + base::printable(name) + "' is set twice");
    }
  }
  return set;
}

std::string outcome_answer(const execution::RunOutcome& outcome) {
  const auto current = execution::read_current(home::RunFiles(outcome.directory));
  const spec::RunRecord* const record = current ? &current->record : nullptr;
  std::string text =
      record ? report::outcome_text(
                   *record, analysis::whole_values_of(current->record.metrics, current->series))
             : outcome.run_id + "  " + std::string(spec::to_string(outcome.state)) + "\n" +
                   base::printable(outcome.message) + "\n";
  text += "  in " + base::printable(outcome.directory.native()) + "\n";
  if (record) text += report::again_text(*record);
  return text;
}

void setup_run(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "run", "run a recipe, or a command after --, and record it", run_run);
  command.add_option(
      "recipe", options.recipe, "a recipe's name, or the path of its folder or document");
  command.add_option("command", options.command, "after --: a command to run without a recipe");
  add_run_options(command, options);
  command.add_option("--perturb",
                     options.perturb,
                     "1ulp: change the code's initial state by one unit in the last place, "
                     "differently in each of --repeat runs");
  command.add_flag("--fresh", options.fresh, "reuse no cached stage");
  command.add_flag(
      "--dry-run", options.dry_run, "show what would be run; fetch, build and run nothing");
  command
      .add_option("--cpus", options.cpus, "bind the run to this number of CPUs (hardware threads)")
      ->range(1, 1'000'000);
  command.add_option("--gpus", options.gpus, "let the run see this number of GPUs")
      ->range(1, 1'000'000);
  command.add_option("--resume", options.resume, "continue an interrupted study")->check(why_empty);
  command.add_flag("--retry", options.retry, "with --resume: run again what failed");
  command.add_flag(
      "--take-over", options.take_over, "with --resume: continue a study whose machine is dead");
  command
      .add_option("--prepare",
                  options.prepare,
                  "FILE: fetch and build what the runs need, and write the prepared runs into "
                  "FILE; start none")
      ->check(why_empty);
  command.add_flag("--detach", options.detach, "with --on: do not wait for the runs");
}

}  // namespace sabath::cli
