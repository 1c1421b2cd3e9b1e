#include <sabath/app/baseline_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/json_reader.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/compare/baseline_verdict.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>

namespace sabath::app {
namespace {

using base::Error;
using base::ErrorKind;
using spec::BaselineEntry;
using spec::BaselineKey;

void check_values(const spec::Baseline& baseline, const std::string& origin) {
  base::JsonProblems problems(origin);
  for (std::size_t i = 0; i < baseline.entries.size(); ++i) {
    const auto& metrics = baseline.entries[i].metrics;
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      const std::string problem = compare::inconsistency(metrics[k]);
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

std::string parameters_text(const BaselineKey& runs, const BaselineKey& baseline) {
  std::set<std::string> names;
  for (const auto* key : {&runs, &baseline}) {
    for (const auto& [name, value] : key->parameters)
      names.insert(name);
  }
  const auto value_in = [](const BaselineKey& key, const std::string& name) {
    const auto found = key.parameters.find(name);
    return found == key.parameters.end() ? std::string("(absent)") : spec::to_string(found->second);
  };
  std::string text;
  for (const std::string& name : names) {
    const std::string of_runs = value_in(runs, name);
    const std::string of_baseline = value_in(baseline, name);
    if (of_runs == of_baseline) continue;
    text += fmt::format("{}{} is {}, of the baseline {}",
                        text.empty() ? "parameter " : ", ",
                        name,
                        of_runs,
                        of_baseline);
  }
  return text;
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

}  // namespace sabath::app
