#include "stage_json.hpp"

#include "documents/checked_read.hpp"
#include "placeholder.hpp"
#include "resources_json.hpp"
#include "stage_terms_json.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::spec {
namespace {

void read_run(Stage& stage, base::JsonReader reader) {
  stage.shell = reader.is_object();
  if (stage.shell) {
    base::JsonReader text = reader.required("shell");
    stage.run = {"/bin/sh", "-c", text.string()};
    check_argument(stage.run.back(), text);
    reader.finish();
    return;
  }
  if (!reader.exists()) return;
  if (!reader.is_array()) {
    reader.problem("must be an array of strings, the argument vector",
                   "a command for the shell is {\"shell\": \"...\"}");
    return;
  }
  for (base::JsonReader& item : reader.items()) {
    stage.run.push_back(item.string());
    check_argument(stage.run.back(), item);
  }
  if (stage.run.empty() || stage.run.front().empty()) reader.problem("names no program");
}

/// The stages that `stage` needs, and those that they need in turn. Unknown ones are left out and
/// a circle does no harm.
std::set<std::string> all_needs(const Recipe& recipe, const Stage& stage) {
  std::set<std::string> result;
  std::vector<std::string> open = stage.needs;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const Stage* needed = recipe.stage(name);
    if (needed == nullptr || !result.insert(name).second) continue;
    open.insert(open.end(), needed->needs.begin(), needed->needs.end());
  }
  return result;
}

/// Does any stage need itself, directly or through others? In a time that grows as the recipe does.
bool has_circle(const Recipe& recipe) {
  std::map<std::string_view, std::vector<std::string_view>> needed_by;
  std::map<std::string_view, std::size_t> waits_for;
  for (const Stage& stage : recipe.stages)
    waits_for.emplace(stage.name, 0);
  for (const Stage& stage : recipe.stages) {
    for (const std::string& need : stage.needs) {
      if (!waits_for.contains(need)) continue;
      needed_by[need].push_back(stage.name);
      ++waits_for[stage.name];
    }
  }
  std::vector<std::string_view> ready;
  for (const auto& [name, count] : waits_for) {
    if (count == 0) ready.push_back(name);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (const std::string_view name : needed_by[ready[i]]) {
      if (--waits_for[name] == 0) ready.push_back(name);
    }
  }
  return ready.size() < waits_for.size();
}

/// Placeholders that all stages of a recipe may use.
KnownPlaceholders common_placeholders(const Recipe& recipe) {
  KnownPlaceholders known;
  known.names = {"recipe", "code", "output", "run", "seed"};
  for (const Parameter& parameter : recipe.parameters)
    known.names.push_back("param." + parameter.name);
  for (const auto& [role, asset] : recipe.datasets)
    known.names.push_back("dataset." + role);
  const auto& layers = recipe.environment.layers;
  const auto is_built = [](const LayerSpec& layer) { return has_prefix(layer.kind); };
  for (const LayerSpec& layer : layers) {
    if (is_built(layer)) known.names.push_back("env." + layer.name);
  }
  const bool has_prefix = std::any_of(layers.begin(), layers.end(), is_built);
  const bool models_own = layers.empty() && !recipe.model.empty();
  if (has_prefix || models_own) known.names.emplace_back("env");
  if (models_own) known.prefixes.emplace_back("env.");  // its layers stand in another document
  return known;
}

void check_needs(const Recipe& recipe,
                 const Stage& stage,
                 bool any_circle,
                 base::JsonReader reader) {
  for (base::JsonReader& item : reader.items()) {
    if (!item.is_string() || recipe.stage(item.string()) != nullptr) continue;
    std::vector<std::string> names;
    for (const Stage& other : recipe.stages)
      names.push_back(other.name);
    const std::string guess = base::nearest(item.string(), names);
    item.problem("no stage '" + item.string() + "'",
                 guess.empty() ? "" : "did you mean '" + guess + "'?");
  }
  if (any_circle && all_needs(recipe, stage).contains(stage.name)) {
    reader.problem("stage '" + stage.name + "' needs itself, directly or through others");
  }
}

void check_template(const Recipe& recipe,
                    const Stage& stage,
                    const KnownPlaceholders& known,
                    base::JsonReader reader) {
  if (!reader.is_string()) return;
  const std::string text = reader.string();
  for (const TemplateProblem& problem : template_problems(text, known))
    reader.problem(problem.problem, problem.hint);
  for (const std::string& name : placeholders_of(text)) {
    const std::string_view prefix = "stage.";
    if (!name.starts_with(prefix)) continue;
    const std::string other = name.substr(prefix.size());
    if (recipe.stage(other) == nullptr ||
        std::ranges::find(stage.needs, other) != stage.needs.end())
      continue;
    if (all_needs(recipe, stage).contains(other)) continue;
    reader.problem(
        "'{" + name + "}' is used, but stage '" + stage.name + "' does not need '" + other + "'",
        "add it to \"needs\"");
  }
}

void check_run(const Recipe& recipe,
               const Stage& stage,
               const KnownPlaceholders& known,
               base::JsonReader reader) {
  if (reader.is_object()) check_template(recipe, stage, known, reader.optional("shell"));
  if (!reader.is_array()) return;
  for (const base::JsonReader& item : reader.items())
    check_template(recipe, stage, known, item);
}

}  // namespace

Stage read_stage(const Recipe& recipe, base::JsonReader reader) {
  Stage stage;
  stage.name = reader.required("name").name();
  stage.needs = read_distinct(reader.optional("needs"));
  base::JsonReader task = reader.optional("task");
  if (task.exists()) stage.task = task.name();
  stage.cache = reader.optional("cache").boolean();
  read_run(stage, reader.required("run"));
  stage.outputs = read_outputs(reader.optional("outputs"));
  stage.resources = read_resources(reader.optional("resources"));
  base::JsonReader code = reader.optional("code");
  if (code.exists()) stage.copy_code = code.one_of({"copy"}) == "copy";
  read_stage_terms(recipe, stage, reader);
  reader.finish();
  return stage;
}

void check_stages(const Recipe& recipe, base::JsonReader reader) {
  if (!reader.is_array()) return;
  KnownPlaceholders known = common_placeholders(recipe);
  for (const Stage& stage : recipe.stages)
    known.names.push_back("stage." + stage.name);
  const bool any_circle = has_circle(recipe);
  std::set<std::string> seen;
  std::vector<base::JsonReader> items = reader.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Stage& stage = recipe.stages[i];
    if (!items[i].is_object()) continue;
    if (!stage.name.empty() && !seen.insert(stage.name).second) {
      items[i].optional("name").problem("two stages are called '" + stage.name + "'");
    }
    base::JsonReader needs = items[i].optional("needs");
    if (needs.is_array()) check_needs(recipe, stage, any_circle, needs);
    check_run(recipe, stage, known, items[i].optional("run"));
    for (const auto& [name, value] : items[i].optional("variables").members())
      check_template(recipe, stage, known, value);
  }
}

}  // namespace sabath::spec
