#include "determinism.hpp"
#include "node_slots.hpp"
#include "recent_trust.hpp"

#include <sabath/app/run_files.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Tells the stages of a run as they begin, and what takes long after them, from its status.
class StageTeller {
 public:
  StageTeller(const RunFiles& files, base::Observer& observer)
      : files_(files), observer_(observer) {}

  void look() {
    const spec::RunStatus status = files_.read_status();
    if (status.stage != told_) observer_.note("  stage " + status.stage);
    told_ = status.stage;
    const bool goes_on = status.state == spec::RunState::running && !status.message.empty();
    if (goes_on && status.message != message_) observer_.note("  " + status.message);
    message_ = status.message;
  }

 private:
  const RunFiles& files_;
  base::Observer& observer_;
  std::string told_;
  std::string message_;
};

/// An asset that is being made, for as long as it is: whoever goes on after an error may ask for it
/// again.
class Generating {
 public:
  Generating(std::vector<std::string>& names, const std::string& name) : names_(names) {
    names_.push_back(name);
  }
  ~Generating() { names_.pop_back(); }
  Generating(const Generating&) = delete;
  Generating& operator=(const Generating&) = delete;

 private:
  std::vector<std::string>& names_;
};

/// What a role must have where a run is done again, or nothing.
const spec::PlannedInput* input_of(const RunRequest& request, const std::string& role) {
  for (const spec::PlannedInput& input : request.inputs) {
    if (input.role == role) return &input;
  }
  return nullptr;
}

[[noreturn]] void throw_other_bytes(const spec::PlannedInput& wanted,
                                    const spec::PlannedInput& found) {
  throw Error(ErrorKind::integrity,
              "input '" + wanted.role + "': '" + wanted.asset + "' is not what it was: version " +
                  found.version + " has " + found.digest.text() + ", the run had version " +
                  wanted.version + " with " + wanted.digest.text(),
              "the bytes of then are neither in the cache nor at the asset's sources");
}

/// A folder that a stage's command names must be there. Throws Error{usage}.
void check_code(const RunRequest& request) {
  const fs::path code = request.recipe.directory / "code";
  std::error_code error;
  if (fs::is_directory(code, error)) return;
  for (const spec::Stage* stage : stages_of(request)) {
    const bool is_named = std::any_of(stage->run.begin(), stage->run.end(), [](const auto& word) {
      return word.find("{code}") != std::string::npos;
    });
    if (!is_named && !stage->copy_code) continue;
    throw Error(ErrorKind::usage,
                "stage " + stage->name + ": names {code}, and there is no folder " + code.string(),
                "{code} is the folder 'code' beside recipe.json; {recipe} is that of recipe.json");
  }
}

std::vector<std::string> what_cannot_fit(const RunRequest& request,
                                         base::ProcessRunner& processes) {
  const spec::ParameterValues values =
      resolve_parameters(request.recipe, request.set, request.named);
  std::vector<std::string> problems;
  for (const spec::Stage* stage : stages_of(request)) {
    if (stage->resources.memory_bytes == 0 || spec::why_not_due(*stage, values)) continue;
    std::string problem = memory_problem(stage->name, stage->resources, usable_memory(processes));
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace

RecipeRunner::RecipeRunner(Tools tools, Folders folders, fs::path program)
    : tools_(std::move(tools)), folders_(std::move(folders)), program_(std::move(program)) {}

AssetFetcher RecipeRunner::fetcher(base::Observer& observer, std::stop_token stop) {
  return {tools_.cache,
          tools_.fetchers,
          tools_.clock,
          [this, &observer, stop](const spec::Asset& asset, const FetchOptions& options) {
            return generate(asset, options.offline, observer, stop);
          }};
}

std::vector<spec::PlannedInput> RecipeRunner::fetch_inputs(const RunRequest& request,
                                                           base::Observer& observer,
                                                           std::stop_token stop) {
  std::vector<spec::PlannedInput> inputs;
  FetchOptions options;
  options.has_login = tools_.has_login;
  options.offline = request.offline;
  for (const auto& [role, name] : request.recipe.datasets) {
    const spec::PlannedInput* const known = input_of(request, role);
    const auto tree = known == nullptr ? std::nullopt : tools_.cache.find_tree(known->digest);
    if (tree) {
      inputs.push_back(*known);
      inputs.back().path = tree->path.string();
      continue;
    }
    const FetchedAsset fetched =
        fetcher(observer, stop).fetch(tools_.documents.asset(name), options, observer, stop);
    inputs.push_back({role, name, fetched.version, fetched.digest, fetched.path.string()});
    if (known != nullptr && fetched.digest != known->digest)
      throw_other_bytes(*known, inputs.back());
  }
  return inputs;
}

Generated RecipeRunner::generate(const spec::Asset& asset,
                                 bool offline,
                                 base::Observer& observer,
                                 std::stop_token stop) {
  if (std::find(generating_.begin(), generating_.end(), asset.name) != generating_.end()) {
    std::string circle;
    for (const std::string& name : generating_)
      circle += "'" + name + "' needs ";
    throw Error(
        ErrorKind::usage,
        "asset '" + asset.name + "': it is made from itself: " + circle + "'" + asset.name + "'");
  }
  const Generating generating(generating_, asset.name);
  RunRequest request;
  request.recipe = tools_.documents.recipe(asset.generate->recipe);
  request.only_stage = asset.generate->stage;
  request.offline = offline;
  request.tags = {"asset:" + asset.name};  // no tag of a user's, and @last passes it by
  request.seed = 1;  // a generated asset is a thing, not an experiment: everybody gets the same
  const RunOutcome outcome = run(request, observer, stop);
  if (outcome.state != spec::RunState::ok) {
    const bool stopped = outcome.state == spec::RunState::interrupted;
    throw Error(stopped ? ErrorKind::interrupted : ErrorKind::launch,
                "asset '" + asset.name + "': run " + outcome.run_id + ": " + outcome.message,
                "'sabath show " + outcome.run_id + "' shows what happened");
  }
  const auto record = RunFiles(outcome.directory).read_record();
  Generated made{{}, outcome.run_id, record->hosts.front().node};
  for (const spec::StageRecord& stage : record->stages) {
    if (stage.name != request.only_stage || stage.made_by_run.empty()) continue;
    made.run_id = stage.made_by_run;
    made.host = stage.made_on_host;
  }
  for (const spec::OutputRecord& output : record->outputs) {
    if (output.stage != request.only_stage) continue;
    const auto object = tools_.cache.find(output.digest);
    made.files.emplace(output.path,
                       object
                           ? *object
                           : tools_.cache.publish_file(
                                 RunFiles(outcome.directory).outputs(output.stage) / output.path));
  }
  return made;
}

spec::RunPlan RecipeRunner::dry_run(const RunRequest& request) {
  spec::RunPlan plan;
  plan.parameters = resolve_parameters(request.recipe, request.set, request.named);
  check_due(request);
  for (const spec::Stage* stage : stages_of(request)) {
    spec::PlannedStage planned;
    planned.not_due = spec::why_not_due(*stage, plan.parameters);
    if (!stage->variant.empty()) planned.variant = stage->variant;
    planned.name = stage->name;
    planned.needs = stage->needs;
    planned.cache = stage->cache;
    planned.argv = stage->run;
    planned.outputs = stage->outputs;
    planned.resources = stage->resources;
    planned.retry = stage->retry;
    plan.stages.push_back(std::move(planned));
  }
  if (!request.task.empty()) plan.task = request.task;
  plan.seed.value = request.seed;
  plan.seed.origin = request.seed ? "option" : "drawn";
  return plan;
}

spec::EnvironmentSpec RecipeRunner::environments_of(const spec::Recipe& recipe) const {
  spec::EnvironmentSpec all = recipe.environment;
  if (all.layers.empty() && !recipe.model.empty()) {
    try {
      all = tools_.documents.asset(recipe.model).environment.value_or(all);
    } catch (const Error& error) {
      // A model need not be described by a document.
      if (error.kind() != ErrorKind::not_found) throw;
    }
  }
  all.stage_variables = spec::known_stage_variables(recipe);
  return all;
}

std::string RecipeRunner::chosen_variant(const spec::EnvironmentSpec& all,
                                         const std::string& asked) const {
  if (!asked.empty() || all.variants.empty()) return asked;
  const auto site = std::find(all.variants.begin(), all.variants.end(), tools_.variant);
  return site == all.variants.end() ? all.variants.front() : *site;
}

spec::EnvironmentSpec RecipeRunner::environment_of(const spec::Recipe& recipe,
                                                   const std::string& variant) const {
  const spec::EnvironmentSpec all = environments_of(recipe);
  return all.select(chosen_variant(all, variant));
}

PreparedRecipe RecipeRunner::prepare(const RunRequest& request,
                                     base::Observer& observer,
                                     std::stop_token stop,
                                     const std::set<std::map<std::string, std::string>>& settings) {
  const spec::EnvironmentSpec all = environments_of(request.recipe);
  PreparedRecipe prepared{request, {}, {}};
  prepared.request.variant = chosen_variant(all, request.variant);
  const spec::EnvironmentSpec own = all.select(prepared.request.variant);
  std::map<std::string, spec::EnvironmentSpec> variants;
  std::set<std::string> problems;
  const auto look = [&](const RunRequest& one) {
    check_due(one);
    check_code(one);
    if (!request.elsewhere) {
      for (std::string& problem : what_cannot_fit(one, tools_.processes))
        problems.insert(std::move(problem));
    }
    for (const std::string& variant : variants_of(one))
      variants.emplace(variant, all.select(variant));
  };
  RunRequest one = prepared.request;
  for (const auto& set : settings) {
    one.set = set;
    look(one);
  }
  if (settings.empty()) look(one);
  for (const std::string& problem : problems)
    observer.warn(problem, "it runs alone, and may be ended for want of memory");
  prepared.inputs = fetch_inputs(request, observer, stop);
  prepared.environments.own = ready(own, request, observer, stop);
  for (const auto& [variant, wanted] : variants)
    prepared.environments.variants[variant] = ready(wanted, request, observer, stop);
  prepared.request.trusted = trust_seen_now();
  return prepared;
}

spec::BuiltEnvironment RecipeRunner::ready(const spec::EnvironmentSpec& wanted,
                                           const RunRequest& request,
                                           base::Observer& observer,
                                           const std::stop_token& stop) {
  spec::BuiltEnvironment environment =
      tools_.environments.build(wanted, request.recipe.directory, observer, stop);
  tools_.environments.check_trusted(environment);  // here it is no run yet
  for (const spec::BuiltLayer& layer : environment.layers) {
    for (const std::string& drift : layer.drift())
      observer.warn("environment layer '" + layer.lock.name + "': " + drift,
                    "somebody changed it; 'sabath env rm " + layer.lock.key.hex.substr(0, 16) +
                        "', and it is built anew");
  }
  return environment;
}

spec::RunPlan RecipeRunner::plan(const PreparedRecipe& prepared,
                                 const RunRequest& request,
                                 const std::stop_token& stop) {
  return plan_run(request,
                  prepared.environments,
                  prepared.inputs,
                  folders_,
                  tools_.processes,
                  tools_.clock,
                  stop);
}

RunInFlight RecipeRunner::launch(const spec::RunPlan& plan,
                                 const Knobs& knobs,
                                 const std::set<std::string>& left_out) {
  const fs::path directory = folders_.runs() / plan.run_id;
  launch::Job job{plan.run_id, {program_.string(), "exec", directory.string()}, directory, {}};
  if (knobs || !left_out.empty()) {
    job.environment = base::current_environment();
    std::erase_if(*job.environment, [&](const auto& item) {
      if (left_out.contains(item.first)) return true;
      if (!knobs || stays_of_session(item.first)) return false;
      return is_of_determinism(item.first) || is_of_surroundings(item.first);
    });
    for (const auto& [name, value] : knobs.value_or(base::Environment{}))
      (*job.environment)[name] = value;
  }
  return follow(directory, tools_.launcher.submit(job));
}

RunOutcome RecipeRunner::run(const RunRequest& request,
                             base::Observer& observer,
                             std::stop_token stop) {
  const PreparedRecipe prepared = prepare(request, observer, stop);
  const spec::RunPlan planned = plan(prepared, prepared.request, stop);
  observer.note("run " + planned.run_id);
  const RunInFlight flight = launch(planned, prepared.request.knobs, prepared.request.left_out);
  const RunFiles files(flight.directory());
  StageTeller teller(files, observer);
  std::chrono::nanoseconds pause = first_look;
  bool cancelled = false;
  while (!flight.is_over()) {
    if (stop.stop_requested() && !cancelled) {
      flight.cancel();
      cancelled = true;
    }
    tools_.clock.sleep_for(pause);
    pause = longer_look(pause);
    if (pause > std::chrono::milliseconds(20)) teller.look();
  }
  return flight.outcome(cancelled);
}

}  // namespace sabath::app
