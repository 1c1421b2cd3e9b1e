#include "again_command.hpp"
#include "code_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/redact.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/provenance/code_elsewhere.hpp>
#include <sabath/spec/record_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Small enough for every library's seeding function (31 bits), never 0.
std::uint64_t draw_seed() {
  return home::random_bits() % 2'147'483'646 + 1;
}

constexpr int run_letters = 8;

void resolve_stages(const RunRequest& request,
                    const fs::path& directory,
                    const std::stop_token& stop,
                    spec::RunPlan& plan) {
  const StageTemplate stage_template(request.recipe, plan, directory, stop);
  plan.code = stage_template.code_items();
  for (const spec::Stage* stage : stages_of(request)) {
    plan.stages.push_back(stage_template.resolve(*stage));
    home::refuse_secrets(plan.stages.back());
  }
}

std::vector<std::string> paths_in(const spec::ParameterValues& parameters) {
  std::vector<std::string> paths;
  for (const auto& [name, value] : parameters) {
    const std::string text = spec::to_string(value);
    if (text.starts_with('/')) paths.push_back(text);
  }
  return paths;
}

/// Of runs that are planned together code elsewhere is looked at once.
std::map<std::string, std::string> found_elsewhere(const RunRequest& request,
                                                   const spec::RunPlan& plan,
                                                   base::ProcessRunner& processes,
                                                   const std::stop_token& stop) {
  // Variables of the shell do not reach jobs.
  const base::Environment session = request.knobs.value_or(
      request.site.empty() ? base::current_environment() : base::Environment{});
  if (!provenance::leads_elsewhere(request.recipe, plan, session)) return {};
  if (request.sibling) {
    spec::RunPlan sibling = home::RunFiles(request.sibling->run_directory).read_plan();
    if (paths_in(sibling.parameters) == paths_in(plan.parameters) &&
        sibling.environments() == plan.environments()) {
      std::erase_if(sibling.code,
                    [](const auto& item) { return !spec::is_code_elsewhere(item.first); });
      return std::move(sibling.code);
    }
  }
  return provenance::code_elsewhere(request.recipe, plan, session, processes, stop);
}

/// Of the variants that stages name those that this run's stages do: others are of other points of
/// a study.
void take_variants(const RunRequest& request,
                   const std::map<std::string, spec::BuiltEnvironment>& built,
                   spec::RunPlan& plan) {
  std::map<std::string, spec::BuiltEnvironment> variants;
  for (const std::string& variant : variants_of(request))
    variants.emplace(variant, built.at(variant));
  if (!variants.empty()) plan.variants = std::move(variants);
}

/// What a starter tells its ranks does not come through to a container: each would be alone there.
void refuse_ranks_in_containers(const spec::RunPlan& plan) {
  for (const spec::PlannedStage& stage : plan.stages) {
    if (!stage.parallel || stage.not_due) continue;
    if (env::container_of(plan.environment_of(stage)) == nullptr) continue;
    throw Error(ErrorKind::usage,
                "stage " + stage.name + ": 'parallel' cannot start ranks in a container",
                "an environment without a layer 'container', or a run that starts them itself");
  }
}

}  // namespace

void give_place(const spec::Place& place, spec::RunPlan& plan) {
  plan.place = place;
  // Only the counts are items: which cores these are differs between runs that are otherwise the
  // same.
  if (!place.cpus.empty()) plan.launch["cpus"] = std::to_string(place.cpus.size());
  if (place.gpus.empty()) return;
  plan.launch["gpus"] = std::to_string(place.gpus.size());
  for (spec::PlannedStage& stage : plan.stages)
    stage.environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(place.gpus, ","));
}

std::vector<const spec::Stage*> stages_of(const RunRequest& request) {
  return request.only_stage.empty() ? spec::stages_of_task(request.recipe, request.task)
                                    : spec::ordered_stages(request.recipe, request.only_stage);
}

namespace {

/// "1,2" for a number: the values of a sweep.
bool is_list_of_values(const spec::Parameter& parameter, const std::string& text) {
  if (text.find(',') == std::string::npos) return false;
  try {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
      spec::parse_parameter(parameter, part);
  } catch (const Error&) {
    return false;
  }
  return true;
}

spec::ParameterValue value_of(const spec::Parameter& parameter, const std::string& text) {
  try {
    return spec::parse_parameter(parameter, text);
  } catch (const Error& error) {
    if (!is_list_of_values(parameter, text)) throw;
    throw Error(error.kind(),
                error.what(),
                "'--sweep " + parameter.name + "=" + text + "' makes a run of each value");
  }
}

}  // namespace

spec::ParameterValues resolve_parameters(const spec::Recipe& recipe,
                                         const std::map<std::string, std::string>& set,
                                         const std::string& named) {
  spec::ParameterValues values;
  std::vector<std::string> names;
  for (const spec::Parameter& parameter : recipe.parameters) {
    values[parameter.name] = parameter.default_value;
    names.push_back(parameter.name);
  }
  std::string problems;
  std::string hint;
  for (const auto& [name, text] : set) {
    try {
      const spec::Parameter* parameter = recipe.parameter(name);
      if (parameter == nullptr) {
        const std::string guess = base::nearest(name, names);
        throw Error(
            ErrorKind::usage,
            "recipe '" + recipe.name + "': no parameter '" + name + "'",
            guess.empty()
                ? "'" +
                      base::shown_command({"sabath", "show", named.empty() ? recipe.name : named}) +
                      "' lists them"
                : "did you mean '" + guess + "'?");
      }
      if (std::find(recipe.fixed.begin(), recipe.fixed.end(), name) != recipe.fixed.end()) {
        throw Error(ErrorKind::usage,
                    "parameter '" + name + "': is fixed by the recipe: it defines the benchmark");
      }
      values[name] = value_of(*parameter, text);
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\n") + std::string(error.what());
      if (hint.empty()) hint = error.hint();
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems, hint);
  home::refuse_secrets(recipe, values);
  return values;
}

void check_due(const RunRequest& request) {
  home::refuse_secrets(request.tags);
  spec::check_due(request.recipe,
                  stages_of(request),
                  resolve_parameters(request.recipe, request.set, request.named),
                  request.only_stage);
}

std::set<std::string> variants_of(const RunRequest& request) {
  const spec::ParameterValues values =
      resolve_parameters(request.recipe, request.set, request.named);
  std::set<std::string> variants;
  for (const spec::Stage* stage : stages_of(request)) {
    if (stage->variant.empty() || stage->variant == request.variant) continue;
    if (!spec::why_not_due(*stage, values)) variants.insert(stage->variant);
  }
  return variants;
}

spec::RunPlan plan_run(const RunRequest& request,
                       const RunEnvironments& environments,
                       const std::vector<spec::PlannedInput>& inputs,
                       const home::Folders& folders,
                       base::ProcessRunner& processes,
                       base::Clock& clock,
                       const std::stop_token& stop) {
  spec::RunPlan plan;
  plan.parameters = resolve_parameters(request.recipe, request.set, request.named);
  plan.seed.value = request.seed ? *request.seed : draw_seed();
  plan.seed.origin = request.seed ? "option" : "drawn";
  plan.created = base::format_rfc3339(clock.now());
  plan.sabath_version = base::version();
  plan.recipe_text = request.recipe.text;
  plan.recipe_directory = request.recipe.directory.string();
  plan.tags = request.tags;
  plan.inputs = inputs;
  plan.environment = environments.own;
  plan.launch = {{"launcher", request.site.empty() ? "local" : request.scheduler},
                 {"user", base::user_name()}};
  if (!request.site.empty()) plan.launch["site"] = request.site;
  if (!request.batch.empty()) plan.batch = request.batch;
  plan.cache_directory = folders.cache.string();
  plan.state_directory = folders.state().string();
  plan.fresh = request.fresh;
  plan.only_stage = request.only_stage;
  plan.trusted = request.trusted;
  if (!request.task.empty()) {
    plan.task = request.task;
    plan.tags.push_back("task:" + request.task);  // no tag of a user's: selections find it by that
  }
  if (!request.variant.empty()) plan.variant = request.variant;
  take_variants(request, environments.variants, plan);
  if (!request.repeats.empty()) plan.repeats = request.repeats;
  plan.reproduce = again_command(request, folders, plan.parameters, plan.seed);

  plan.study_id = request.study_id;
  plan.study_point = request.study_point;

  const fs::path directory =
      home::make_dated_folder(folders.runs(), request.recipe.name, run_letters, clock);
  plan.run_id = directory.filename().string();
  // Of a repetition the recipe's folder is gone as soon as it has ended.
  if (plan.repeats) {
    std::vector<std::string> argv = program_words(folders);
    argv.insert(argv.end(), {"repro", plan.run_id});
    plan.reproduce = base::shown_command(argv);
  }
  try {
    if (request.announce_id) request.announce_id(plan.run_id);
    resolve_stages(request, directory, stop, plan);
    refuse_ranks_in_containers(plan);
    plan.code.merge(found_elsewhere(request, plan, processes, stop));
    plan.code_state = keep_code(request, directory, folders.state(), processes, stop);
    if (request.place) give_place(*request.place, plan);
    const home::RunFiles files(directory);
    write_plan(files.plan(), plan, request.durability);
    spec::RunStatus status;
    home::stamp_process(status);
    status.updated = plan.created;
    files.write_status(status);
    home::announce(folders.runs(), plan.run_id, home::RunEvent::planned);
  } catch (...) {
    base::remove_tree(directory);  // nothing was planned: not even an empty folder remains
    throw;
  }
  return plan;
}

}  // namespace sabath::planning
