#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <fstream>
#include <set>

namespace sabath::home {
namespace {

using base::Error;
using base::ErrorKind;
using spec::BaselineEntry;
using spec::BaselineKey;

void check_values(const spec::Baseline& baseline, const std::string& origin) {
  base::JsonProblems problems(origin);
  for (std::size_t i = 0; i < baseline.entries.size(); ++i) {
    const auto& metrics = baseline.entries[i].metrics;
    compare::Seeds seeds;
    for (const spec::BaselineRun& run : baseline.entries[i].runs)
      seeds.push_back(run.seed);
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      const std::string problem = compare::inconsistency(metrics[k], seeds);
      if (problem.empty()) continue;
      problems.add(fmt::format("/entries/{}/metrics/{}", i, k),
                   problem,
                   "bounds and margins may be changed by hand, bounds with \"rule\": "
                   "\"reviewed\"; the values say what the runs were");
    }
  }
  problems.throw_if_any();
}

/// How well an entry's key says just where it holds.
int exactness(const BaselineKey& key) {
  return (key.site != spec::any_of_all ? 2 : 0) + (key.device != spec::any_of_all ? 1 : 0);
}

using Parameters = spec::ParameterValues;

/// Names of the parameters of both.
std::set<std::string> names_in(const Parameters& a, const Parameters& b) {
  std::set<std::string> names;
  for (const Parameters* const parameters : {&a, &b}) {
    for (const auto& [name, value] : *parameters)
      names.insert(name);
  }
  return names;
}

/// Null where there is none.
const spec::ParameterValue* value_in(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? nullptr : &found->second;
}

std::string parameters_text(const BaselineKey& runs, const BaselineKey& baseline) {
  const auto text_of = [](const spec::ParameterValue* value) {
    return value == nullptr ? std::string("(absent)") : spec::shown_text(spec::to_string(*value));
  };
  std::string text;
  for (const std::string& name : names_in(runs.parameters, baseline.parameters)) {
    const std::string of_runs = text_of(value_in(runs.parameters, name));
    const std::string of_baseline = text_of(value_in(baseline.parameters, name));
    if (of_runs == of_baseline) continue;
    text += fmt::format("{}{} is {}, of the baseline {}",
                        text.empty() ? "parameter " : ", ",
                        name,
                        of_runs,
                        of_baseline);
  }
  return text;
}

/// How far apart two values are: 0 for equal ones, 1 for texts that differ, and for numbers their
/// distance by the larger one.
double value_distance(const spec::ParameterValue* a, const spec::ParameterValue* b) {
  if (a == nullptr || b == nullptr) return 1;
  if (*a == *b) return 0;
  const auto number = [](const spec::ParameterValue& value) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
  };
  const auto x = number(*a);
  const auto y = number(*b);
  if (!x || !y) return 1;
  const double largest = std::max(std::abs(*x), std::abs(*y));
  return largest > 0 ? std::abs(*x - *y) / largest : 0;
}

/// Smaller is nearer; compared as a tuple.
struct KeyDistance {
  bool other_definition = false;
  int differences = 0;
  double parameters = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 behind <=> for a pointer
  auto operator<=>(const KeyDistance&) const = default;
};

KeyDistance distance_of(const BaselineKey& a, const BaselineKey& b) {
  KeyDistance distance;
  const auto differs = [](const std::string& of_runs, const std::string& of_baseline) {
    return of_runs != of_baseline && of_baseline != spec::any_of_all ? 1 : 0;
  };
  distance.other_definition = a.recipe_definition != b.recipe_definition;
  distance.differences = differs(a.task, b.task) + differs(a.site, b.site) +
                         differs(a.device, b.device) + (a.data != b.data ? 1 : 0);
  for (const std::string& name : names_in(a.parameters, b.parameters)) {
    const double apart = value_distance(value_in(a.parameters, name), value_in(b.parameters, name));
    distance.differences += apart > 0 ? 1 : 0;
    distance.parameters += apart;
  }
  return distance;
}

}  // namespace

spec::Baseline read_baseline(const std::filesystem::path& file) {
  spec::Baseline baseline = spec::parse_baseline(base::read_file(file), file.string());
  check_values(baseline, file.string());
  return baseline;
}

bool is_baseline(const std::filesystem::path& file) {
  constexpr std::size_t head_bytes = 65536;
  if (file.extension() != ".json") return false;
  // Most are not, and this is asked of each file of a recipe.
  std::ifstream stream(file, std::ios::binary);
  std::string head(head_bytes, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head.find("\"recipe\"") == head.npos || head.find("\"entries\"") == head.npos) return false;
  try {
    read_baseline(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void write_baseline(const std::filesystem::path& file, const spec::Baseline& baseline) {
  base::write_file_atomically(file, base::pretty_json(spec::to_json(baseline)));
}

bool holds_for(const BaselineKey& pattern, const BaselineKey& key) {
  BaselineKey same = pattern;
  if (same.site == spec::any_of_all) same.site = key.site;
  if (same.device == spec::any_of_all) same.device = key.device;
  return same == key;
}

const BaselineEntry* accepted_for(const spec::Baseline& baseline, const BaselineKey& key) {
  const BaselineEntry* best = nullptr;
  for (const BaselineEntry& entry : baseline.entries) {
    if (!entry.accepted || !holds_for(entry.holds_for, key)) continue;
    const bool is_better =
        best == nullptr || exactness(entry.holds_for) >= exactness(best->holds_for);
    if (is_better) best = &entry;
  }
  return best;
}

BaselineKey completed(BaselineKey key, const BaselineEntry& entry) {
  if (key.data.hex.empty()) key.data = entry.holds_for.data;
  if (key.device.empty()) key.device = entry.holds_for.device;
  return key;
}

NearestEntry nearest_entry(const spec::Baseline& baseline, const BaselineKey& key) {
  NearestEntry nearest;
  KeyDistance least;
  for (const BaselineEntry& entry : baseline.entries) {
    if (!entry.accepted) continue;
    const KeyDistance distance = distance_of(completed(key, entry), entry.holds_for);
    if (nearest.entry != nullptr && !(distance < least)) continue;
    nearest.entry = &entry;
    least = distance;
  }
  if (nearest.entry != nullptr)
    nearest.differences = key_differences(completed(key, *nearest.entry), nearest.entry->holds_for);
  return nearest;
}

std::string entry_text(const BaselineEntry& entry) {
  std::string text =
      fmt::format("entry of {} run{}", entry.runs.size(), entry.runs.size() == 1 ? "" : "s");
  if (!entry.runs.empty()) text += " such as " + entry.runs.back().run_id;
  if (entry.accepted)
    text += fmt::format(", accepted by {} on {:.10}", entry.accepted->by, entry.accepted->at);
  return text;
}

std::vector<std::size_t> accept_baseline(spec::Baseline& baseline,
                                         const spec::Acceptance& acceptance) {
  std::vector<std::size_t> accepted;
  for (std::size_t i = 0; i < baseline.entries.size(); ++i) {
    if (baseline.entries[i].accepted) continue;
    baseline.entries[i].accepted = acceptance;
    accepted.push_back(i);
  }
  return accepted;
}

std::vector<std::string> key_differences(const BaselineKey& runs, const BaselineKey& baseline) {
  std::vector<std::string> differences;
  if (runs.recipe_definition != baseline.recipe_definition) {
    differences.push_back(fmt::format("the recipe's definition is {:.19}, of the baseline {:.19}",
                                      runs.recipe_definition.text(),
                                      baseline.recipe_definition.text()));
  }
  const auto add = [&](const char* what, const std::string& a, const std::string& b) {
    if (a == b || b == spec::any_of_all) return;
    differences.push_back(fmt::format("the {} is '{}', of the baseline '{}'", what, a, b));
  };
  add("task", runs.task, baseline.task);
  const std::string parameters = parameters_text(runs, baseline);
  if (!parameters.empty()) differences.push_back(parameters);
  if (runs.data != baseline.data) differences.emplace_back("the data differ");
  add("site", runs.site, baseline.site);
  add("device", runs.device, baseline.device);
  return differences;
}

}  // namespace sabath::home
