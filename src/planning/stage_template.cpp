#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/parameter_file.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/command_inputs.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;

/// "train-small" -> "TRAIN_SMALL": the end of SABATH_DATASET_<ROLE>.
std::string variable_suffix(const std::string& role) {
  std::string text = role;
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::toupper(c)) : '_';
  });
  return text;
}

/// Switches that make well-known libraries repeatable, each documented by its project.
std::map<std::string, std::string> deterministic_variables(std::uint64_t seed, int cpus) {
  std::map<std::string, std::string> variables{
      {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"},  // cuBLAS: results independent of streams
      {"MKL_CBWR", "COMPATIBLE"},              // MKL: one code path on every processor
      {"NCCL_ALGO", "Ring"},                   // NCCL: one order of reduction
      {"OMP_DYNAMIC", "FALSE"},                // OpenMP: as many threads as asked for
      {"PYTHONHASHSEED", std::to_string(seed % 4'294'967'296)},
      {"TF_CUDNN_DETERMINISTIC", "1"},
      {"TF_DETERMINISTIC_OPS", "1"},
  };
  if (cpus > 0) {
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
      variables[name] = std::to_string(cpus);
    }
  }
  return variables;
}

bool contains(const std::vector<std::string>& items, std::string_view wanted) {
  return std::ranges::find(items, wanted) != items.end();
}

}  // namespace

std::map<std::string, std::string> recipe_variables(const spec::Recipe& recipe,
                                                    const spec::Stage& stage) {
  std::map<std::string, std::string> variables;
  if (recipe.deterministic) {
    variables = deterministic_variables(0, stage.resources.cpus);
    if (!stage.cache) variables["PYTHONHASHSEED"] = "{seed}";
  }
  if (!stage.cache || contains(spec::names_in(stage), "seed")) {
    for (const std::string& name : recipe.seed_environment)
      variables[name] = "{seed}";
  }
  for (const auto& [name, value] : stage.variables)
    variables[name] = value;
  return variables;
}

StageTemplate::StageTemplate(const spec::Recipe& recipe,
                             const spec::RunPlan& plan,
                             const fs::path& run_directory,
                             std::stop_token stop)
    : recipe_(recipe), plan_(plan), run_directory_(run_directory), stop_(std::move(stop)) {
  // As the document says: what parameters choose does not make other code.
  code_["definition"] = recipe.definition_digest().text();
  if (recipe.parameter_file)
    code_["parameter_file"] =
        base::sha256_of(base::read_file(recipe.directory / recipe.parameter_file->file)).text();
  const fs::path code = recipe.directory / "code";
  std::error_code error;
  if (fs::is_directory(code, error)) {
    const base::Digest tree = provenance::code_digest(code, plan.state_directory, stop_);
    // The code that a run keeps has no empty folders, and a repeat of it thus no folder.
    if (tree != base::sha256_of("")) code_["tree"] = tree.text();
  }
  code_.merge(provenance::outer_files(recipe));
  // A stage that names the recipe's folder may run any file in it.
  for (const spec::Stage& stage : recipe.stages) {
    if (contains(spec::names_in(stage), "recipe")) {
      code_["recipe"] = recipe_digest();
      break;
    }
  }
}

const std::string& StageTemplate::recipe_digest() const {
  if (recipe_digest_.empty())
    recipe_digest_ =
        provenance::code_digest(recipe_.directory, plan_.state_directory, stop_).text();
  return recipe_digest_;
}

std::map<std::string, std::string> StageTemplate::values_for(
    const spec::Stage& stage, const spec::PlannedStage& planned) const {
  std::map<std::string, std::string> values{
      {"recipe", plan_.recipe_directory},
      {"code", plan_.recipe_directory + "/code"},
      {"run", run_directory_.string()},
      {"output", (run_directory_ / "outputs" / stage.name).string()},
      {"seed", std::to_string(plan_.seed.value.value_or(0))},
  };
  const spec::BuiltEnvironment& environment = plan_.environment_of(planned);
  if (const auto prefix = environment.prefix()) values["env"] = *prefix;
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (!layer.prefix.empty()) values["env." + layer.lock.name] = layer.prefix;
  }
  for (const auto& [name, value] : plan_.parameters) {
    values["param." + name] = spec::to_string(value);
  }
  for (const spec::PlannedInput& input : plan_.inputs)
    values["dataset." + input.role] = input.path;
  constexpr std::string_view head = "stage.";
  for (const std::string& name : spec::names_in(stage)) {
    if (name.starts_with(head))
      values[name] = (run_directory_ / "outputs" / name.substr(head.size())).string();
  }
  return values;
}

std::map<std::string, std::string> StageTemplate::variables_for(const spec::Stage& stage) const {
  const std::vector<std::string> named = spec::names_in(stage);
  const std::uint64_t seed = plan_.seed.value.value_or(0);
  std::map<std::string, std::string> variables;
  if (recipe_.deterministic)
    variables = deterministic_variables(stage.cache ? 0 : seed, stage.resources.cpus);
  variables["SABATH_RUN_ID"] = plan_.run_id;
  variables["SABATH_RUN_DIR"] = run_directory_.string();
  variables["SABATH_OUTPUT_DIR"] = (run_directory_ / "outputs" / stage.name).string();
  // A cached stage sees exactly what its key is made of.
  if (!stage.cache || contains(named, "seed")) {
    variables["SABATH_SEED"] = std::to_string(seed);
    for (const std::string& name : recipe_.seed_environment)
      variables[name] = std::to_string(seed);
  }
  for (const spec::PlannedInput& input : plan_.inputs) {
    if (stage.cache && !contains(named, "dataset." + input.role)) continue;
    variables["SABATH_DATASET_" + variable_suffix(input.role)] = input.path;
  }
  return variables;
}

std::map<std::string, std::string> StageTemplate::key_items_for(
    const spec::Stage& stage, const spec::PlannedStage& planned) const {
  std::map<std::string, std::string> items{
      {"argv", canonical_list(stage.run)},
      {"outputs", canonical_list(stage.outputs)},
      {"environment", plan_.environment_of(planned).key().hex},
      {"deterministic", recipe_.deterministic ? "yes" : "no"},
      {"cpus", std::to_string(stage.resources.cpus)},
  };
  if (!stage.parallel.empty()) items["tasks"] = std::to_string(stage.resources.tasks.value_or(1));
  if (!stage.variables.empty()) {
    std::vector<std::string> variables;
    for (const auto& [name, value] : stage.variables)
      variables.push_back(name + "=" + value);
    items["variables"] = canonical_list(variables);
  }
  for (const std::string& name : spec::names_in(stage)) {
    const auto rest = [&](std::string_view head) { return name.substr(head.size()); };
    if (name == "seed") items[name] = std::to_string(plan_.seed.value.value_or(0));
    if (name == "recipe" || name == "code") items["code"] = recipe_digest();
    if (name.starts_with("param."))
      items[name] = spec::to_string(plan_.parameters.at(rest("param.")));
    for (const spec::PlannedInput& input : plan_.inputs) {
      if (name == "dataset." + input.role) items[name] = input.digest.text();
    }
  }
  return items;
}

spec::PlannedStage StageTemplate::resolve(const spec::Stage& stage) const {
  spec::PlannedStage planned;
  planned.name = stage.name;
  planned.needs = stage.needs;
  planned.cache = stage.cache;
  planned.argv_template = stage.run;
  planned.outputs = stage.outputs;
  planned.resources = stage.resources;
  planned.not_due = spec::why_not_due(stage, plan_.parameters);
  if (planned.not_due) return planned;
  planned.retry = stage.retry;
  if (!stage.variant.empty() && stage.variant != plan_.variant) planned.variant = stage.variant;
  std::map<std::string, std::string> values = values_for(stage, planned);
  if (stage.copy_code) {
    planned.code_copy_from = values.at("code");
    values["code"] = "code";  // relative to the stage's working folder, where exec puts the copy
  }
  if (contains(spec::names_in(stage), "parameters")) {
    const std::string name = fs::path(recipe_.parameter_file->file).filename().string();
    values["parameters"] = name;  // likewise
    planned.files.emplace()[name] = write_parameter_file(recipe_, plan_.parameters);
  }
  const std::string place = recipe_.name + ":/stages/" + stage.name;
  for (const std::string& argument : stage.run)
    planned.argv.push_back(spec::expand(argument, values, place));
  planned.environment = variables_for(stage);
  for (const auto& [name, value] : stage.variables)
    planned.environment[name] = spec::expand(value, values, place + "/variables/" + name);
  if (stage.cache) planned.key_items = key_items_for(stage, planned);
  if (stage.cache && planned.files) {
    for (const auto& [name, text] : *planned.files)
      planned.key_items["file." + name] = base::sha256_of(text).text();
  }
  if (!stage.parallel.empty()) planned.parallel = stage.parallel;
  if (stage.checkpoint) planned.checkpoint = true;
  return planned;
}

}  // namespace sabath::planning
