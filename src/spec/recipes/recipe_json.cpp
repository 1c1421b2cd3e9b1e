#include "documents/checked_read.hpp"
#include "documents/document_json.hpp"
#include "documents/value_lists_json.hpp"
#include "metric_json.hpp"
#include "parameter_json.hpp"
#include "stage_json.hpp"
#include "study_json.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::spec {
namespace {

using base::JsonReader;

/// The keys of the object `key` of the document in the order in which they stand there, which
/// nlohmann::json does not keep.
std::vector<std::string> document_order(const nlohmann::ordered_json& document, const char* key) {
  std::vector<std::string> names;
  const auto object = document.find(key);
  if (object == document.end() || !object->is_object()) return names;
  for (const auto& [name, value] : object->items())
    names.push_back(name);
  return names;
}

template <class T, class Read>
std::vector<T> read_in_order(JsonReader reader, const std::vector<std::string>& order, Read read) {
  std::vector<T> values;
  auto members = reader.members();
  for (const std::string& name : order) {
    const auto member = std::find_if(
        members.begin(), members.end(), [&](const auto& m) { return m.first == name; });
    if (member != members.end()) values.push_back(read(name, member->second));
  }
  return values;
}

/// Roles become SABATH_DATASET_<ROLE>: upper case, '-' to '_'.
std::string dataset_variable(std::string role) {
  std::transform(role.begin(), role.end(), role.begin(), [](char c) {
    if (c == '-') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return "SABATH_DATASET_" + role;
}

/// An asset, or a list of assets with the parameters for which each is taken.
std::vector<DatasetChoice> read_choices(const Recipe& recipe, JsonReader reader) {
  if (!reader.is_array()) return {{reader.name(), {}}};
  std::vector<DatasetChoice> choices;
  for (JsonReader& item : reader.items()) {
    if (!choices.empty() && choices.back().when.empty())
      item.problem("is never taken: the entry before it has no \"when\"");
    DatasetChoice choice{item.required("asset").name(), {}};
    choice.when = read_when(recipe, item.optional("when"));
    item.finish();
    choices.push_back(std::move(choice));
  }
  if (choices.empty()) reader.problem("must not be empty");
  return choices;
}

std::map<std::string, std::vector<DatasetChoice>> read_datasets(const Recipe& recipe,
                                                                JsonReader reader) {
  std::map<std::string, std::vector<DatasetChoice>> datasets;
  std::set<std::string> variables;
  for (auto& [role, asset] : reader.members()) {
    check_name(role, asset);
    datasets[role] = read_choices(recipe, asset);
    const std::string variable = dataset_variable(role);
    if (!variables.insert(variable).second) {
      asset.problem("another role gives the same variable " + variable);
    }
  }
  return datasets;
}

std::vector<std::string> read_seed(JsonReader reader) {
  auto variables = read_distinct(reader.required("environment"), [](const auto& name, auto& item) {
    check_by(variable_name, name, item);
  });
  reader.finish();
  return variables;
}

ParameterFile read_parameter_file(const Recipe& recipe, JsonReader reader) {
  ParameterFile file;
  file.file = reader.required("file").relative_path();
  file.format = reader.required("format").one_of({"ini", "yaml", "json"});
  JsonReader keys = reader.required("keys");
  std::set<std::string> paths;
  for (auto& [name, path] : keys.members()) {
    known_parameter(recipe, name, path);
    file.keys[name] = path.string();
    if (path.is_string() && file.keys[name].empty()) path.problem("must not be empty");
    if (!paths.insert(file.keys[name]).second)
      path.problem("'" + file.keys[name] + "' is another parameter's");
  }
  if (keys.is_object() && file.keys.empty()) keys.problem("names no parameter");
  reader.finish();
  return file;
}

std::vector<std::string> read_fixed(const Recipe& recipe, JsonReader reader) {
  std::vector<std::string> parts{"model", "datasets", "environment", "stages"};
  for (const Parameter& parameter : recipe.parameters)
    parts.push_back(parameter.name);
  return read_distinct(std::move(reader), [&](const std::string& part, const JsonReader& item) {
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) return;
    item.problem(
        "'" + part + "' is neither a parameter nor one of model, datasets, environment, stages",
        base::did_you_mean(part, parts));
  });
}

RawLayout read_raw_layout(JsonReader& reader) {
  RawLayout layout;
  JsonReader type = reader.required("type");
  const auto named = base::parse_array_type(type.string());
  if (named && base::size_of(*named) > 0) {
    layout.type = *named;
  } else if (type.is_string()) {
    type.problem("'" + type.string() + "' is not a type of numbers",
                 "such as 'float32' or 'int16'");
  }
  layout.big_endian = reader.optional("byte_order").one_of({"little", "big"}) == "big";
  for (JsonReader& extent : reader.optional("shape").items())
    layout.shape.push_back(extent.unsigned_integer());
  return layout;
}

std::map<std::string, Prediction> read_predictions(JsonReader reader) {
  std::map<std::string, Prediction> predictions;
  for (auto& [path, kind] : reader.members()) {
    predictions[path.starts_with('/') ? path.substr(1) : path] =
        *parse_enum<Prediction>(kind.one_of(enum_words<Prediction>()));
  }
  return predictions;
}

OutputRule read_output_rule(JsonReader entry) {
  OutputRule rule;
  JsonReader as = entry.optional("as");
  if (as.exists()) rule.as = as.one_of(OutputRule::formats());
  if (rule.as == "raw") rule.raw = read_raw_layout(entry);
  rule.tolerance = read_tolerance(entry.optional("tolerance"));
  rule.predictions = read_predictions(entry.optional("predictions"));
  if (rule.as == "bytes" && !rule.predictions.empty())
    entry.problem("bytes have no arrays: 'predictions' wants another 'as'");
  entry.finish();
  return rule;
}

std::map<std::string, OutputRule> read_compare(const Recipe& recipe, JsonReader reader) {
  std::vector<std::string> outputs;
  for (const Stage& stage : recipe.stages)
    outputs.insert(outputs.end(), stage.outputs.begin(), stage.outputs.end());
  std::map<std::string, OutputRule> rules;
  for (auto& member : reader.members()) {
    const std::string& output = member.first;
    JsonReader& entry = member.second;
    const bool is_known = std::ranges::any_of(outputs, [&](const std::string& declared) {
      return declared == output || (is_group(declared) && declares(declared, output));
    });
    if (!is_known) {
      entry.problem("no stage has an output '" + output + "'", base::did_you_mean(output, outputs));
    }
    rules[output] = read_output_rule(entry);
  }
  return rules;
}

void read_stages(Recipe& recipe, JsonReader reader) {
  for (const JsonReader& item : reader.items())
    recipe.stages.push_back(read_stage(recipe, item));
  if (reader.is_array() && recipe.stages.empty()) reader.problem("must not be empty");
  check_stages(recipe, reader);
}

void check_metric_stages(const Recipe& recipe, JsonReader reader) {
  std::vector<std::string> stages;
  for (const Stage& stage : recipe.stages)
    stages.push_back(stage.name);
  for (auto& [name, entry] : reader.members()) {
    JsonReader from = entry.optional("from");
    if (!from.is_object()) continue;
    JsonReader stage = from.optional("stage");
    if (!stage.is_string() || recipe.stage(stage.string()) != nullptr) continue;
    stage.problem("no stage '" + stage.string() + "'", base::did_you_mean(stage.string(), stages));
  }
}

std::optional<double> read_bound(JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  const double bound = reader.number();
  if (!std::isfinite(bound)) reader.problem("must be a finite number");
  return bound;
}

/// {"steps": N}, {"minutes": M}, or both.
void read_no_improvement(JsonReader reader, StopCondition& condition) {
  if (!reader.exists()) return;
  JsonReader steps = reader.optional("steps");
  if (steps.exists()) {
    condition.steps = steps.unsigned_integer();
    if (steps.is_integer() && *condition.steps == 0) steps.problem("must be at least 1");
  }
  JsonReader minutes = reader.optional("minutes");
  if (minutes.exists()) {
    constexpr double most_minutes = 1e6;
    const double number = minutes.number();
    const bool is_good = number > 0 && number <= most_minutes;
    if (!is_good) minutes.problem("must be more than 0 and at most 1000000");
    condition.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double, std::ratio<60>>(is_good ? number : 1));
  }
  if (!steps.exists() && !minutes.exists())
    reader.problem("names neither 'steps' nor 'minutes'", R"(such as {"steps": 500})");
  reader.finish();
}

StopCondition read_stop_condition(const MetricSpec* metric, JsonReader reader) {
  StopCondition condition;
  JsonReader nan = reader.optional("nan");
  condition.nan = nan.boolean();
  if (nan.is_boolean() && !condition.nan) nan.problem("must be true", "leave it out");
  condition.above = read_bound(reader.optional("above"));
  condition.below = read_bound(reader.optional("below"));
  JsonReader better = reader.optional("no_improvement");
  read_no_improvement(better, condition);
  if (better.exists() && metric != nullptr && metric->better == Better::none)
    better.problem("the metric needs \"better\": lower or higher");
  const bool is_empty = !condition.nan && !condition.above && !condition.below;
  if (reader.is_object() && is_empty && !better.exists() && !nan.exists())
    reader.problem("names no condition", "one of nan, above, below, no_improvement");
  reader.finish();
  return condition;
}

std::map<std::string, StopCondition> read_stop_if(const Recipe& recipe, JsonReader reader) {
  std::vector<std::string> names;
  for (const MetricSpec& metric : recipe.metrics)
    names.push_back(metric.name);
  std::map<std::string, StopCondition> conditions;
  for (auto& [name, entry] : reader.members()) {
    const auto metric = std::ranges::find(recipe.metrics, name, &MetricSpec::name);
    const bool is_known = metric != recipe.metrics.end();
    if (!is_known) {
      entry.problem("no metric '" + base::printable(name) + "' is declared",
                    base::did_you_mean(name, names, "declare it in \"metrics\""));
    }
    conditions[name] = read_stop_condition(is_known ? &*metric : nullptr, entry);
  }
  return conditions;
}

/// Parts that others refer to are read before those.
void read_body(Recipe& recipe, JsonReader& root) {
  const auto ordered = nlohmann::ordered_json::parse(recipe.text);
  recipe.name = root.required("name").name();
  recipe.description = root.optional("description").string();
  recipe.model = root.optional("model").name();
  JsonReader environment = root.optional("environment");
  if (environment.exists()) recipe.environment = read_environment_spec(environment);
  recipe.parameters = read_in_order<Parameter>(
      root.optional("parameters"), document_order(ordered, "parameters"), read_parameter);
  JsonReader parameter_file = root.optional("parameter_file");
  if (parameter_file.exists()) recipe.parameter_file = read_parameter_file(recipe, parameter_file);
  recipe.datasets = read_datasets(recipe, root.optional("datasets"));
  recipe.fixed = read_fixed(recipe, root.optional("fixed"));
  recipe.seed_environment = read_seed(root.optional("seed"));
  recipe.deterministic = root.optional("deterministic").boolean();
  read_stages(recipe, root.required("stages"));
  recipe.metrics = read_in_order<MetricSpec>(
      root.optional("metrics"), document_order(ordered, "metrics"), read_metric);
  check_metric_stages(recipe, root.optional("metrics"));
  JsonReader require = root.optional("require");
  if (require.exists()) recipe.require = parse_enum<Rung>(require.one_of(enum_words<Rung>()));
  recipe.compare = read_compare(recipe, root.optional("compare"));
  recipe.studies = read_studies(recipe, root.optional("studies"));
  recipe.stop_if = read_stop_if(recipe, root.optional("stop_if"));
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema", schema_hint);
  Recipe recipe;
  recipe.text = text;
  read_body(recipe, root);
  root.finish();
  document.finish();
  return recipe;
}

}  // namespace sabath::spec
