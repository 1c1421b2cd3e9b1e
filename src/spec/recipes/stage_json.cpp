#include "stage_json.hpp"

#include "documents/amounts_json.hpp"
#include "documents/checked_read.hpp"
#include "documents/member_rules.hpp"
#include "documents/value_lists_json.hpp"
#include "placeholder.hpp"
#include "resources_json.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <signal.h>

namespace sabath::spec {
namespace {

using base::JsonReader;

/// A stage that fails so often has no failure that passes.
constexpr int most_tries = 100;

std::vector<int> read_exit_codes(JsonReader reader) {
  std::vector<int> codes;
  for (JsonReader& item : reader.items()) {
    const std::int64_t code = item.integer();
    if (item.is_integer() && (code < 1 || code > 255)) {
      item.problem(std::to_string(code) + " is not an exit status of a failure", "1 to 255 are");
    }
    codes.push_back(static_cast<int>(code));
  }
  return codes;
}

std::vector<std::string> read_signals(JsonReader reader) {
  std::vector<std::string> known;
  for (int number = 1; number < NSIG; ++number)
    known.push_back(base::signal_name(number));
  return read_distinct(std::move(reader), [&](const std::string& name, const JsonReader& item) {
    if (std::ranges::find(known, name) != known.end()) return;
    item.problem("'" + name + "' is not a signal", base::did_you_mean(name, known));
  });
}

void check_log_pattern(const std::string& pattern, const JsonReader& item) {
  const auto problem = base::Regex::problem_of(pattern);
  if (problem) item.problem("is not a regular expression: " + *problem);
}

Retry read_retry(JsonReader reader) {
  Retry retry;
  JsonReader times = reader.required("times");
  retry.times = read_count(times, 1, 1);
  if (retry.times > most_tries) {
    times.problem(std::to_string(retry.times) + " is out of range",
                  "at most " + std::to_string(most_tries));
  }
  retry.pause = read_length_of_time(reader.optional("pause")).value_or(retry.pause);
  retry.exit_codes = read_exit_codes(reader.optional("exit_codes"));
  retry.signals = read_signals(reader.optional("signals"));
  JsonReader limits = reader.optional("limits");
  retry.limits = read_distinct(limits);
  for (JsonReader& item : limits.items())
    item.one_of({"time", "silence"});
  retry.logs = read_distinct(reader.optional("logs"), check_log_pattern);
  const bool names_any = reader.optional("exit_codes").exists() ||
                         reader.optional("signals").exists() || limits.exists() ||
                         reader.optional("logs").exists();
  if (reader.is_object() && !names_any) {
    reader.problem("names no failure after which to try again",
                   "give \"exit_codes\", \"signals\", \"limits\" or \"logs\"");
  }
  reader.finish();
  return retry;
}

void check_variant(const Recipe& recipe, const JsonReader& reader, const std::string& variant) {
  // Without layers the environment is the model's, which stands in another document.
  if (recipe.environment.layers.empty() && !recipe.model.empty()) return;
  const auto& known = recipe.environment.variants;
  if (std::find(known.begin(), known.end(), variant) != known.end()) return;
  reader.problem("the environment has no variant '" + variant + "'",
                 base::did_you_mean(variant, known));
}

std::map<std::string, std::string> read_variables(JsonReader reader) {
  std::map<std::string, std::string> variables;
  for (auto& [name, entry] : reader.members()) {
    check_by(variable_name, name, entry);
    if (name.starts_with("SABATH_")) {
      entry.problem("'" + name + "' is set by sabath alone",
                    "choose a name that does not begin with SABATH_");
    }
    variables[name] = entry.string();
    check_argument(variables[name], entry);
  }
  return variables;
}

/// On what terms a stage runs: its "when", "retry", "variant" and "variables". The recipe has its
/// parameters and environment already.
void read_stage_terms(const Recipe& recipe, Stage& stage, JsonReader& reader) {
  stage.when = read_when(recipe, reader.optional("when"));
  JsonReader retry = reader.optional("retry");
  if (retry.exists()) stage.retry = read_retry(retry);
  JsonReader variant = reader.optional("variant");
  stage.variant = variant.name();
  if (variant.is_string()) check_variant(recipe, variant, stage.variant);
  stage.variables = read_variables(reader.optional("variables"));
  stage.parallel =
      reader.optional("parallel").one_of({"none", "auto", "srun", "mpirun", "mpiexec", "torchrun"});
  if (stage.parallel == "none") stage.parallel.clear();
  JsonReader checkpoint = reader.optional("checkpoint");
  stage.checkpoint = checkpoint.boolean();
  if (stage.checkpoint && stage.cache) {
    checkpoint.problem("a cached stage cannot have checkpoints",
                       "leave out \"cache\" or \"checkpoint\"");
  }
}

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
  if (recipe.parameter_file) known.names.emplace_back("parameters");
  for (const auto& [role, choices] : recipe.datasets)
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
    item.problem("no stage '" + item.string() + "'", base::did_you_mean(item.string(), names));
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
  check_template(text, known, reader);
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
  stage.task = reader.optional("task").name();
  stage.cache = reader.optional("cache").boolean();
  read_run(stage, reader.required("run"));
  stage.outputs = read_distinct_paths(reader.optional("outputs"), true);
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
