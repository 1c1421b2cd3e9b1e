#include "run.hpp"
#include "selected_runs.hpp"
#include "sweep_values.hpp"
#include "watching.hpp"

#include <sabath/app/run_study.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/submit_runs.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/planning/reference_run.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::cli {
namespace {

using base::Error;

/// The values of "1,2,4", or "64,64;128" for a list, or '["a,b",""]'. `place` begins messages.
std::vector<std::string> sweep_words(const std::string& text,
                                     bool is_list,
                                     const std::string& place) {
  if (auto array = sweep_array(text)) return *std::move(array);
  std::vector<std::string> words;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = text.find(is_list ? ';' : ',', from);
    words.push_back(text.substr(from, to == std::string::npos ? to : to - from));
    if (words.back().empty()) {
      throw usage_error(place + "has an empty value",
                        "values that are empty, or have a comma, can stand in a JSON array: "
                        "'--sweep NAME=[\"\",\"a,b\"]'");
    }
  }
  return words;
}

/// "epochs=1,2,4": typed as the recipe says.
void add_sweep(const planning::RunRequest& request,
               const std::string& text,
               spec::ValueLists& lists) {
  require_utf8("--sweep", text);
  const std::string place = "--sweep: '" + base::printable(text) + "' ";
  const auto sign = text.find('=');
  if (sign == std::string::npos || sign == 0) {
    throw usage_error(place + "is not NAME=VALUE,VALUE,...", "such as '--sweep epochs=1,2,4'");
  }
  const std::string name = text.substr(0, sign);
  if (lists.contains(name)) {
    throw usage_error("--sweep: '" + base::printable(name) + "' is swept twice");
  }
  std::vector<spec::ParameterValue>& values = lists[name];
  const spec::Parameter* const parameter = request.recipe.parameter(name);
  const bool is_list = parameter != nullptr && parameter->type == spec::ParameterType::list;
  for (const std::string& word : sweep_words(text.substr(sign + 1), is_list, place)) {
    try {
      values.push_back(
          planning::resolve_parameters(request.recipe, {{name, word}}, request.named).at(name));
    } catch (const Error& error) {
      if (parameter == nullptr || word.find("..") == std::string::npos) throw;
      throw usage_error(error.what(), "--sweep takes values, no range: such as " + name + "=1,2,3");
    }
  }
}

const spec::Study& named_study(const spec::Recipe& recipe, const std::string& name) {
  const auto found = recipe.studies.find(name);
  if (found != recipe.studies.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, study] : recipe.studies)
    names.push_back(each);
  const std::string otherwise = names.empty()
                                    ? "the recipe has no studies; --sweep makes a study without one"
                                    : fmt::format("it has {}", fmt::join(names, ", "));
  throw usage_error("recipe '" + recipe.name + "': no study '" + base::printable(name) + "'",
                    base::did_you_mean(name, names, otherwise));
}

/// What makes such a study again.
std::string command_of(const RunOptions& options,
                       const planning::RunRequest& request,
                       const home::Folders& folders) {
  // A site's jobs get no variable of the session.
  std::vector<std::string> argv;
  if (options.on.empty()) argv = planning::session_words(request);
  argv.emplace_back("sabath");
  for (const std::filesystem::path& catalog : folders.catalogs)
    argv.insert(argv.end(), {"--catalog", catalog.string()});
  const std::vector<std::string> arguments = arguments_of(options, request);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) argv.insert(argv.end(), {option, value});
  };
  add("--jobs", options.jobs);
  add("--on", options.on);
  add("--pack", options.pack ? std::to_string(*options.pack) : "");
  for (const std::string& each : options.tags)
    add("--tag", each);
  add("--stop-when-diverged", request.reference.filename().string());
  if (options.fresh) argv.emplace_back("--fresh");
  return base::shown_command(argv);
}

app::StudyTools tools_of(Workspace& workspace) {
  return {workspace.runner(),
          workspace.folders(),
          workspace.processes(),
          workspace.clock(),
          workspace.observer()};
}

/// Runs what is open of a study, on this machine or at its site.
CarriedOut drive(const home::StudyFiles& files,
                 const spec::StudyPlan& plan,
                 const planning::PreparedRecipe& prepared,
                 const RunOptions& options,
                 Workspace& workspace) {
  if (plan.site) {
    const bool over = hand_in_and_follow(files, plan, prepared, options, workspace);
    return {analysis::look_at_study(files, workspace.folders()), over};
  }
  analysis::StudyOutcome outcome = app::run_study(files,
                                                  plan,
                                                  prepared,
                                                  {options.retry, options.take_over},
                                                  tools_of(workspace),
                                                  workspace.stop());
  workspace.index_runs();
  return {std::move(outcome), !workspace.stop().stop_requested()};
}

/// The exit status of a study: the worst of its points, and interrupted where some were not run.
int answer_study(const CarriedOut& made, Workspace& workspace) {
  const spec::StudyPlan& plan = made.study.plan;
  if (plan.site && !made.over) {
    const std::vector<batch::WatchedRun> runs = runs_to_watch({plan.study_id}, workspace);
    const WatchedStudies studies = studies_to_watch({plan.study_id}, runs, workspace);
    workspace.answer(workspace.json() ? live::status_json(runs) : watch_text(runs, false, studies));
    return workspace.stop().stop_requested() ? exit_interrupted : exit_done;
  }
  answer_with(made.study, live::study_text(made.study), workspace);
  int status = exit_done;
  for (const analysis::PointOutcome& point : made.study.points) {
    // Fewer runs than requested are a failure, whatever the others say.
    status = std::max<int>(status, point.run ? exit_status(point.run->state) : exit_interrupted);
  }
  return status;
}

/// Says what more could go on at the same time, where nobody asked.
void suggest_jobs(const RunOptions& options,
                  const spec::Recipe& recipe,
                  std::size_t runs,
                  Workspace& workspace) {
  const bool states = std::ranges::any_of(
      recipe.stages, [](const auto& stage) { return stage.resources.cpus > 0; });
  if (!options.jobs.empty() || !states || runs < 2) return;
  const std::size_t fit = std::min(runs, app::runs_at_a_time(recipe, 0, tools_of(workspace)));
  if (fit < 2) return;
  workspace.observer().note("one run at a time, so that none disturbs another's timing; --jobs " +
                            std::to_string(fit) + " would fit");
}

/// What is to be run, without what is made ready for it.
spec::StudyPlan new_plan(const RunOptions& options,
                         const planning::RunRequest& request,
                         const std::vector<spec::StudyPoint>& points,
                         Workspace& workspace) {
  spec::StudyPlan plan;
  plan.jobs = jobs_of(options);
  if (options.on.empty()) {
    app::runs_at_a_time(
        request.recipe, plan.jobs, tools_of(workspace));  // refuses what does not fit
  } else {
    if (options.jobs.empty()) plan.jobs = 0;  // as many as the site takes
    plan.site = options.on;
    plan.pack = options.pack;
    workspace.use_site(options.on);
  }
  plan.recipe = request.named;
  plan.recipe_name = request.recipe.name;
  plan.recipe_digest = request.recipe.digest();
  plan.tags = request.tags;
  if (!request.task.empty()) plan.task = request.task;
  plan.fresh = request.fresh;
  plan.offline = request.offline;
  if (!request.reference.empty()) plan.stop_when_diverged = request.reference.filename().string();
  plan.command = command_of(options, request, workspace.folders());
  plan.points = points;
  return plan;
}

/// Its files; `plan` gets its id.
home::StudyFiles begin_study(const std::string& name,
                             const planning::PreparedRecipe& prepared,
                             spec::StudyPlan& plan,
                             Workspace& workspace) {
  plan.variant = prepared.request.variant;
  home::StudyFiles files = home::make_study(
      workspace.folders().studies(), plan.recipe_name + "-" + name, plan, workspace.clock());
  workspace.observer().note("study " + plan.study_id + ": " + std::to_string(plan.points.size()) +
                            " run(s)");
  return files;
}

}  // namespace

std::vector<std::string> arguments_of(const RunOptions& options,
                                      const planning::RunRequest& request) {
  std::vector<std::string> argv{"run", request.named};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) argv.insert(argv.end(), {option, value});
  };
  for (const std::string& each : options.set)
    add("--set", each);
  if (!options.parameters.empty()) {
    const auto typed = assignments("--set", options.set);
    for (const auto& [name, value] : request.set) {
      if (!typed.contains(name)) argv.insert(argv.end(), {"--set", name + "=" + value});
    }
  }
  for (const std::string& each : options.sweep)
    add("--sweep", each);
  if (options.zip) argv.emplace_back("--zip");
  add("--study", options.study);
  add("--seeds", options.seeds);
  add("--seed", options.seed ? std::to_string(*options.seed) : "");
  add("--repeat", options.repeat ? std::to_string(*options.repeat) : "");
  add("--perturb", options.perturb);
  add("--variant", options.variant);
  add("--task", options.task);
  return argv;
}

bool asks_for_study(const RunOptions& options) {
  return !options.sweep.empty() || !options.seeds.empty() || !options.study.empty() ||
         !options.perturb.empty() || options.repeat.value_or(1) > 1;
}

std::vector<spec::StudyPoint> points_of(const RunOptions& options,
                                        const planning::RunRequest& request) {
  spec::Study study;
  if (!options.study.empty()) study = named_study(request.recipe, options.study);
  if (options.zip && options.sweep.size() < 2) {
    throw usage_error("--zip: pairs the values of two or more --sweep");
  }
  for (const std::string& text : options.sweep)
    add_sweep(request, text, options.zip ? study.zip : study.matrix);
  if (!options.seeds.empty()) {
    try {
      study.seeds = spec::parse_seeds(options.seeds);
    } catch (const Error& error) {
      throw usage_error(std::string("--seeds: ") + error.what(), error.hint());
    }
  }
  if (options.seed) study.seeds.clear();
  if (!options.perturb.empty()) {
    const std::string name = planning::perturbation_parameter(options.perturb);
    if (study.matrix.contains(name) || study.zip.contains(name)) {
      throw usage_error("--perturb: the study or --sweep has values of " + name + " already");
    }
    study.matrix.merge(
        planning::perturbed_runs(request, options.perturb, options.repeat.value_or(1)));
  } else if (options.repeat) {
    study.repeat = *options.repeat;
  }
  return planning::expand_study(request.recipe, study, request.set, options.seed);
}

void note_single_lists(const RunOptions& options,
                       const planning::RunRequest& request,
                       base::Observer& observer) {
  for (const std::string& text : options.sweep) {
    const std::string name = text.substr(0, text.find('='));
    const bool is_list = request.recipe.parameter(name)->type == spec::ParameterType::list;
    if (!is_list || text.find(';') != text.npos || text.find(',') == text.npos) continue;
    if (sweep_array(text.substr(name.size() + 1))) continue;
    observer.note("--sweep: '" + base::printable(text) +
                  "' is one value, a list; ';' separates several lists");
  }
}

int jobs_of(const RunOptions& options) {
  if (options.jobs.empty()) return 1;
  if (options.jobs == "all") return 0;
  const int jobs = base::number_in<int>(options.jobs).value_or(0);
  if (jobs < 1) {
    throw usage_error("--jobs: '" + base::printable(options.jobs) + "' is not a number of runs",
                      "a number from 1, or 'all' that fit");
  }
  return jobs;
}

int run_new_study(const RunOptions& options,
                  const planning::RunRequest& request,
                  const std::vector<spec::StudyPoint>& points,
                  Workspace& workspace) {
  check_jobs(options, request, points, workspace);
  spec::StudyPlan plan = new_plan(options, request, points, workspace);
  const planning::PreparedRecipe prepared =
      make_ready(request, points, options.on, arguments_of(options, request), workspace);
  if (!options.prepare.empty()) return keep_prepared(prepared, options.prepare, workspace);
  const std::string name = options.study.empty() ? "study" : options.study;
  const home::StudyFiles files = begin_study(name, prepared, plan, workspace);
  if (options.perturb.empty()) note_power(request, points, workspace);
  if (!plan.site) suggest_jobs(options, request.recipe, points.size(), workspace);
  return answer_study(drive(files, plan, prepared, options, workspace), workspace);
}

CarriedOut carry_out(const RunOptions& options,
                     const planning::RunRequest& request,
                     const std::string& name,
                     Workspace& workspace) {
  const std::vector<spec::StudyPoint> points = points_of(options, request);
  check_jobs(options, request, points, workspace);
  spec::StudyPlan plan = new_plan(options, request, points, workspace);
  const planning::PreparedRecipe prepared =
      make_ready(request, points, options.on, arguments_of(options, request), workspace);
  const home::StudyFiles files = begin_study(name, prepared, plan, workspace);
  return drive(files, plan, prepared, options, workspace);
}

int resume_study(const RunOptions& options, Workspace& workspace) {
  const home::StudyFiles files = home::find_study(workspace.folders().studies(), options.resume);
  spec::StudyPlan plan = files.read_plan();
  if (!options.jobs.empty()) plan.jobs = jobs_of(options);
  planning::RunRequest request;
  request.recipe = workspace.documents().recipe(plan.recipe);
  if (request.recipe.digest() != plan.recipe_digest) {
    throw usage_error(
        "study '" + plan.study_id + "': the recipe has changed since it was begun: " +
            (request.recipe.directory / "recipe.json").string(),
        "all runs of a study use the same recipe; begin a new study: " + plan.command);
  }
  request.named = plan.recipe;
  request.variant = plan.variant;
  request.task = plan.task.value_or("");
  request.tags = plan.tags;
  request.fresh = plan.fresh;
  request.offline = plan.offline;
  if (plan.stop_when_diverged) {
    request.reference = one_run(*plan.stop_when_diverged, workspace).directory;
    planning::check_reference(request.reference, request.recipe);
  }
  request.placement.elsewhere = plan.site.has_value();
  if (plan.offline) workspace.stay_offline();
  if (plan.site) {
    workspace.use_site(*plan.site);
    const spec::Site site = workspace.site(*plan.site);
    batch::jobs_for(request,
                    plan.points,
                    plan.pack.value_or(1),
                    site,
                    workspace.sites().scheduler(site.scheduler));
  } else {
    app::runs_at_a_time(request.recipe, plan.jobs, tools_of(workspace));
  }
  const planning::PreparedRecipe prepared =
      make_ready(request,
                 plan.points,
                 options.prepare.empty() ? plan.site.value_or("") : "",  // else this is that job
                 {"run", "--resume", plan.study_id},
                 workspace);
  if (!options.prepare.empty()) return keep_prepared(prepared, options.prepare, workspace);
  return answer_study(drive(files, plan, prepared, options, workspace), workspace);
}

}  // namespace sabath::cli
