#include <sabath/planning/node_slots.hpp>
#include <sabath/planning/parameter_file.hpp>
#include <sabath/planning/recipe_preparer.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Returns the input that a role must have in a repetition; nothing otherwise.
const spec::PlannedInput* input_of(const RunRequest& request, const std::string& role) {
  const auto& inputs = request.repetition.inputs;
  const auto found = std::ranges::find(inputs, role, &spec::PlannedInput::role);
  return found == inputs.end() ? nullptr : &*found;
}

/// Throws Error{usage} where the folder that a stage's command names is missing.
void check_code(const RunRequest& request) {
  const fs::path code = request.recipe.directory / "code";
  std::error_code error;
  if (fs::is_directory(code, error)) return;
  for (const spec::Stage* stage : stages_of(request)) {
    const bool is_named = std::ranges::any_of(
        stage->run, [](const auto& word) { return word.find("{code}") != std::string::npos; });
    if (!is_named && !stage->copy_code) continue;
    throw Error(
        ErrorKind::usage,
        "stage " + stage->name + ": names {code}, but the folder is missing: " + code.string(),
        "{code} is the folder 'code' beside recipe.json; {recipe} is that of recipe.json");
  }
}

/// Problems, each with what comes of it.
std::map<std::string, std::string> what_cannot_fit(const RunRequest& request,
                                                   const spec::ParameterValues& values,
                                                   base::ProcessRunner& processes) {
  const std::string alone = "it runs alone with what there is, ";
  std::map<std::string, std::string> problems;
  for (const spec::Stage* stage : stages_of(request)) {
    const RunNeeds needs = needs_of(stage->resources);
    if (needs == RunNeeds{} || spec::why_not_due(*stage, values)) continue;
    if (needs.memory_bytes > 0)
      problems.emplace(memory_problem(stage->name, stage->resources, usable_memory(processes)),
                       alone + "and may fail or be ended for want of memory");
    if (needs.cores > 0) {
      const std::size_t cores = probe::usable_cores().size();
      problems.emplace(count_problem(stage->name, needs.cores, cores, "core(s)"),
                       alone + "and may take longer");
    }
    if (needs.gpus > 0)
      problems.emplace(count_problem(stage->name, needs.gpus, gpu_count(processes), "GPU(s)"),
                       alone + "and may fail, or compute without a GPU");
  }
  problems.erase("");
  return problems;
}

/// Code without a commit would be other code tomorrow.
void refuse_open_code(const spec::Recipe& recipe, const home::Documents& documents) {
  if (recipe.model.empty()) return;
  try {
    const spec::Asset model = documents.asset(recipe.model);
    if (!model.code || model.code->open.empty()) return;
    throw Error(ErrorKind::usage,
                "recipe '" + recipe.name + "': the code of its model '" + model.name +
                    "' has no commit: " + model.code->open,
                "import its document again with --commit and the 40 digits of a commit");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;  // a model may have no document
  }
}

}  // namespace

RecipePreparer::RecipePreparer(Tools tools, home::Folders folders, MakeAsset make_asset)
    : tools_(std::move(tools)), folders_(std::move(folders)), make_asset_(std::move(make_asset)) {}

assets::AssetFetcher RecipePreparer::fetcher(base::Observer& observer, std::stop_token stop) {
  return {tools_.cache,
          tools_.fetchers(),
          tools_.clock,
          [this, &observer, stop](const spec::Asset& asset, const assets::FetchOptions& options) {
            return make_asset_(asset, options.offline, observer, stop);
          }};
}

std::vector<spec::PlannedInput> RecipePreparer::fetch_inputs(
    const RunRequest& request,
    const std::set<std::pair<std::string, std::string>>& wanted,
    base::Observer& observer,
    std::stop_token stop) {
  std::vector<spec::PlannedInput> inputs;
  assets::FetchOptions options;
  options.has_login = tools_.has_login;
  options.offline = request.offline;
  for (const auto& wish : wanted) {
    const std::string& role = wish.first;
    // A repetition has the bytes of the run that it repeats, whatever its parameters choose.
    const spec::PlannedInput* const known = input_of(request, role);
    const auto has_role = [&](const spec::PlannedInput& input) { return input.role == role; };
    if (known != nullptr && std::ranges::any_of(inputs, has_role)) continue;
    const auto tree = known == nullptr ? std::nullopt : tools_.cache.find_tree(known->digest);
    if (tree) {
      inputs.push_back(*known);
      inputs.back().path = tree->path.string();
      continue;
    }
    const std::string& asset = known == nullptr ? wish.second : known->asset;
    const assets::FetchedAsset fetched =
        fetcher(observer, stop).fetch(tools_.documents.asset(asset), options, observer, stop);
    inputs.push_back({role, asset, fetched.version, fetched.digest, fetched.path.string()});
    if (known != nullptr && fetched.digest != known->digest)
      throw Error(ErrorKind::integrity,
                  "input '" + known->role + "': '" + known->asset +
                      "' is not what it was: version " + fetched.version + " has " +
                      fetched.digest.text() + ", the run had version " + known->version + " with " +
                      known->digest.text(),
                  "the bytes of then are neither in the cache nor at the asset's sources");
  }
  return inputs;
}

spec::RunPlan RecipePreparer::dry_run(const RunRequest& request) {
  spec::RunPlan plan;
  plan.parameters = resolve_parameters(request.recipe, request.set, request.named);
  check_due(request, plan.parameters);
  check_code(request);
  if (request.recipe.parameter_file) write_parameter_file(request.recipe, plan.parameters);
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

spec::EnvironmentSpec RecipePreparer::environments_of(const spec::Recipe& recipe) const {
  spec::EnvironmentSpec all = recipe.environment;
  if (all.layers.empty() && !recipe.model.empty()) {
    try {
      all = tools_.documents.asset(recipe.model).environment.value_or(all);
    } catch (const Error& error) {
      // A model may have no document.
      if (error.kind() != ErrorKind::not_found) throw;
    }
  }
  all.stage_variables = spec::known_stage_variables(recipe);
  return all;
}

std::string RecipePreparer::chosen_variant(const spec::EnvironmentSpec& all,
                                           const std::string& asked) const {
  if (!asked.empty() || all.variants.empty()) return asked;
  const auto site = std::ranges::find(all.variants, tools_.variant);
  return site == all.variants.end() ? all.variants.front() : *site;
}

spec::EnvironmentSpec RecipePreparer::environment_of(const spec::Recipe& recipe,
                                                     const std::string& variant) const {
  const spec::EnvironmentSpec all = environments_of(recipe);
  return all.select(chosen_variant(all, variant));
}

PreparedRecipe RecipePreparer::prepare(
    const RunRequest& request,
    base::Observer& observer,
    std::stop_token stop,
    const std::set<std::map<std::string, std::string>>& settings) {
  const spec::EnvironmentSpec all = environments_of(request.recipe);
  PreparedRecipe prepared{request, {}, {}, {}};
  prepared.request.variant = chosen_variant(all, request.variant);
  const spec::EnvironmentSpec own = all.select(prepared.request.variant);
  std::map<std::string, spec::EnvironmentSpec> variants;
  std::map<std::string, std::string> problems;
  std::set<std::pair<std::string, std::string>> data;
  const auto look = [&](const RunRequest& one) {
    const spec::ParameterValues values = resolve_parameters(one.recipe, one.set, one.named);
    check_due(one, values);
    check_code(one);
    refuse_open_code(one.recipe, tools_.documents);
    if (one.recipe.parameter_file) write_parameter_file(one.recipe, values);  // if it can be
    if (!request.placement.elsewhere) {
      problems.merge(what_cannot_fit(one, values, tools_.processes));
    }
    for (const auto& choice : one.recipe.datasets_for(values))
      data.insert(choice);
    for (const std::string& variant : variants_of(one, values))
      variants.emplace(variant, all.select(variant));
    prepared.parameters.emplace(one.set, values);
  };
  RunRequest one = prepared.request;
  for (const auto& set : settings) {
    one.set = set;
    look(one);
  }
  if (settings.empty()) look(one);
  for (const auto& [problem, outcome] : problems)
    observer.warn(problem, outcome);
  if (!request.placement.elsewhere && !request.placement.variables) {
    for (const std::string& sentence : replaced_variables(request))
      observer.note(sentence);
  }
  prepared.inputs = fetch_inputs(request, data, observer, stop);
  prepared.environments.own = ready(own, request, observer, stop);
  for (const auto& [variant, wanted] : variants)
    prepared.environments.variants[variant] = ready(wanted, request, observer, stop);
  prepared.environments.trusted = trust_seen_now();
  return prepared;
}

spec::BuiltEnvironment RecipePreparer::ready(const spec::EnvironmentSpec& wanted,
                                             const RunRequest& request,
                                             base::Observer& observer,
                                             const std::stop_token& stop) {
  spec::BuiltEnvironment environment =
      tools_.environments.build(wanted, request.recipe.directory, observer, stop);
  tools_.environments.check_trusted(environment);  // before there is a run
  for (const spec::BuiltLayer& layer : environment.layers) {
    for (const std::string& drift : layer.drift())
      observer.warn("environment layer '" + layer.lock.name + "': " + drift,
                    "somebody changed it; 'sabath env rm " + layer.lock.key.hex.substr(0, 16) +
                        "', and it is built anew");
  }
  return environment;
}

spec::RunPlan RecipePreparer::plan(const PreparedRecipe& prepared,
                                   const RunRequest& request,
                                   const std::stop_token& stop) {
  const auto known = prepared.parameters.find(request.set);
  const spec::ParameterValues values =
      known != prepared.parameters.end()
          ? known->second
          : resolve_parameters(request.recipe, request.set, request.named);
  // Other points of a study have other data.
  const auto data = request.recipe.datasets_for(values);
  std::vector<spec::PlannedInput> inputs = prepared.inputs;
  std::erase_if(inputs, [&](const spec::PlannedInput& input) {
    const auto asset = data.find(input.role);
    if (asset == data.end()) return true;
    return asset->second != input.asset && input_of(request, input.role) == nullptr;
  });
  return plan_run(request,
                  values,
                  prepared.environments,
                  inputs,
                  {folders_, tools_.processes, tools_.clock},
                  stop);
}

}  // namespace sabath::planning
