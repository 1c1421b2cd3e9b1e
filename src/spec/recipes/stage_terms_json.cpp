#include "stage_terms_json.hpp"

#include "documents/checked_read.hpp"
#include "documents/value_lists_json.hpp"
#include "resources_json.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

#include <signal.h>

namespace sabath::spec {
namespace {

using base::JsonReader;

/// A stage that fails so often has no failure that passes.
constexpr int most_tries = 100;

ValueLists read_when(const Recipe& recipe, JsonReader reader) {
  ValueLists lists;
  for (auto& [name, entry] : reader.members()) {
    const Parameter* parameter = known_parameter(recipe, name, entry);
    if (parameter != nullptr) lists[name] = read_value_or_values(*parameter, entry);
  }
  if (reader.is_object() && reader.members().empty()) {
    reader.problem("names no parameter", "without \"when\" a stage is always due");
  }
  return lists;
}

std::vector<int> read_exit_codes(JsonReader reader) {
  std::vector<int> codes;
  for (JsonReader& item : reader.items()) {
    const std::int64_t code = item.integer();
    if (item.is_integer() && (code < 1 || code > 255)) {
      item.problem(std::to_string(code) + " is no exit status of a failure", "1 to 255 are");
    }
    codes.push_back(static_cast<int>(code));
  }
  return codes;
}

std::vector<std::string> read_signals(JsonReader reader) {
  std::vector<std::string> known;
  for (int number = 1; number < NSIG; ++number)
    known.push_back(base::signal_name(number));
  std::vector<std::string> names = read_distinct(reader);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(known.begin(), known.end(), names[i]) != known.end()) continue;
    const std::string guess = base::nearest(names[i], known);
    reader.items()[i].problem("'" + names[i] + "' is no signal",
                              guess.empty() ? "" : "did you mean '" + guess + "'?");
  }
  return names;
}

std::vector<std::string> read_patterns(JsonReader reader) {
  std::vector<std::string> patterns = read_distinct(reader);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto problem = base::Regex::problem_of(patterns[i]);
    if (problem) reader.items()[i].problem("is no regular expression: " + *problem);
  }
  return patterns;
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
  retry.logs = read_patterns(reader.optional("logs"));
  const bool names_any = reader.optional("exit_codes").exists() ||
                         reader.optional("signals").exists() || limits.exists() ||
                         reader.optional("logs").exists();
  if (reader.is_object() && !names_any) {
    reader.problem("names no failure that is worth another try",
                   "with \"exit_codes\", \"signals\", \"limits\" or \"logs\"");
  }
  reader.finish();
  return retry;
}

void check_variant(const Recipe& recipe, const JsonReader& reader, const std::string& variant) {
  // Without layers the environment is the model's, which stands in another document.
  if (recipe.environment.layers.empty() && !recipe.model.empty()) return;
  const auto& known = recipe.environment.variants;
  if (std::find(known.begin(), known.end(), variant) != known.end()) return;
  const std::string guess = base::nearest(variant, known);
  reader.problem("the environment has no variant '" + variant + "'",
                 guess.empty() ? "" : "did you mean '" + guess + "'?");
}

std::map<std::string, std::string> read_variables(JsonReader reader) {
  std::map<std::string, std::string> variables;
  for (auto& [name, entry] : reader.members()) {
    check_variable_name(name, entry);
    if (name.starts_with("SABATH_")) {
      entry.problem("'" + name + "' is sabath's to set",
                    "choose a name that does not begin with SABATH_");
    }
    variables[name] = entry.string();
    check_argument(variables[name], entry);
  }
  return variables;
}

}  // namespace

void read_stage_terms(const Recipe& recipe, Stage& stage, JsonReader& reader) {
  stage.when = read_when(recipe, reader.optional("when"));
  JsonReader retry = reader.optional("retry");
  if (retry.exists()) stage.retry = read_retry(retry);
  JsonReader variant = reader.optional("variant");
  if (variant.exists()) {
    stage.variant = variant.name();
    if (variant.is_string()) check_variant(recipe, variant, stage.variant);
  }
  stage.variables = read_variables(reader.optional("variables"));
  JsonReader parallel = reader.optional("parallel");
  if (parallel.exists()) {
    stage.parallel = parallel.one_of({"none", "auto", "srun", "mpirun", "mpiexec", "torchrun"});
    if (stage.parallel == "none") stage.parallel.clear();
  }
  JsonReader checkpoint = reader.optional("checkpoint");
  stage.checkpoint = checkpoint.boolean();
  if (stage.checkpoint && stage.cache) {
    checkpoint.problem("a cached stage starts from nothing", "leave one of both out");
  }
}

}  // namespace sabath::spec
