#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/planning/plan_run.hpp>

#include <algorithm>

namespace sabath::planning {
namespace {

using base::Error;
using Setting = std::map<std::string, spec::ParameterValue>;
using Texts = std::map<std::string, std::string>;

std::string text_of(const Setting& setting) {
  std::string text;
  for (const auto& [name, value] : setting)
    text += (text.empty() ? "" : ", ") + name + "=" + spec::to_string(value);
  return text;
}

std::size_t tuples_of(const spec::ValueLists& zip) {
  if (zip.empty()) return 1;
  for (const auto& [name, values] : zip) {
    if (values.size() == zip.begin()->second.size()) continue;
    throw Error(base::ErrorKind::usage,
                "'" + zip.begin()->first + "' has " + std::to_string(zip.begin()->second.size()) +
                    " value(s) and '" + name + "' has " + std::to_string(values.size()) +
                    ": paired lists must have the same length");
  }
  return zip.begin()->second.size();
}

/// Counted first: a million points would take long to be refused.
void check_count(const spec::Study& study, std::size_t tuples) {
  for (const spec::ValueLists* const lists : {&study.matrix, &study.zip}) {
    for (const auto& [name, values] : *lists) {
      if (values.empty())
        throw Error(base::ErrorKind::usage,
                    "parameter '" + name + "' of the study has no value",
                    "list its values, or remove it from the study");
    }
  }
  auto count = static_cast<double>(tuples);
  for (const auto& [name, values] : study.matrix)
    count *= static_cast<double>(values.size());
  count *= static_cast<double>(std::max<std::size_t>(study.seeds.size(), 1));
  count *= std::max(study.repeat, 1);
  if (count <= spec::most_study_runs) return;
  constexpr std::uint64_t countless = spec::most_study_runs * 1000;
  const bool exact = count < countless;
  throw Error(base::ErrorKind::usage,
              "the study would have " + std::string(exact ? "" : "at least ") +
                  std::to_string(exact ? static_cast<std::uint64_t>(count) : countless) +
                  " runs, and a study has at most " + std::to_string(spec::most_study_runs),
              "cross fewer values, pair them, or make several studies");
}

std::vector<Setting> crossed(const spec::ValueLists& matrix) {
  std::vector<Setting> settings{{}};
  for (const auto& [name, values] : matrix) {
    std::vector<Setting> more;
    for (const Setting& setting : settings) {
      for (const spec::ParameterValue& value : values) {
        more.push_back(setting);
        more.back()[name] = value;
      }
    }
    settings = std::move(more);
  }
  return settings;
}

std::vector<Setting> with_tuples(const std::vector<Setting>& settings,
                                 const spec::ValueLists& zip,
                                 std::size_t tuples) {
  std::vector<Setting> all;
  for (const Setting& setting : settings) {
    for (std::size_t i = 0; i < tuples; ++i) {
      all.push_back(setting);
      for (const auto& [name, values] : zip)
        all.back()[name] = values[i];
    }
  }
  return all;
}

bool is_excluded(const Setting& setting, const spec::ValueLists& exclusion) {
  return std::ranges::all_of(exclusion, [&](const auto& entry) {
    const auto& [name, values] = entry;
    const auto found = setting.find(name);
    return found != setting.end() && std::ranges::find(values, found->second) != values.end();
  });
}

void exclude(std::vector<Setting>& settings, const std::vector<spec::ValueLists>& exclusions) {
  const std::vector<Setting> all = settings;
  for (std::size_t i = 0; i < exclusions.size(); ++i) {
    const auto excluded = [&](const Setting& setting) {
      return is_excluded(setting, exclusions[i]);
    };
    if (std::ranges::none_of(all, excluded)) {
      throw Error(base::ErrorKind::usage,
                  "exclusion " + std::to_string(i + 1) + " of the study excludes nothing",
                  "its values must be among those of the study");
    }
    std::erase_if(settings, excluded);
  }
  if (settings.empty())
    throw Error(base::ErrorKind::usage,
                "the study excludes every point",
                "remove an item of its \"exclude\", or add values");
}

void check_distinct(const std::vector<Setting>& settings) {
  std::set<std::string> seen;
  for (const Setting& setting : settings) {
    const std::string text = text_of(setting);
    if (seen.insert(text).second) continue;
    throw Error(base::ErrorKind::usage,
                "two points of the study are the same: " + text,
                "--repeat, or 'repeat', runs a point several times");
  }
}

/// Checks the common parameters, and each swept one once, as for one run.
void check_parameters(const spec::Recipe& recipe, const Texts& set, const Setting& first) {
  Texts all = set;
  for (const auto& [name, value] : first) {
    if (set.contains(name)) {
      throw Error(base::ErrorKind::usage,
                  "parameter '" + name + "': is set to one value and also to several",
                  "remove it from --set, or from the study");
    }
    all[name] = spec::to_string(value);
  }
  resolve_parameters(recipe, all);
}

}  // namespace

std::vector<spec::StudyPoint> expand_study(const spec::Recipe& recipe,
                                           const spec::Study& study,
                                           const Texts& set,
                                           std::optional<std::uint64_t> seed) {
  const std::size_t tuples = tuples_of(study.zip);
  check_count(study, tuples);
  std::vector<Setting> settings = with_tuples(crossed(study.matrix), study.zip, tuples);
  check_distinct(settings);
  exclude(settings, study.exclude);
  check_parameters(recipe, set, settings.front());
  std::vector<std::optional<std::uint64_t>> seeds(study.seeds.begin(), study.seeds.end());
  if (seeds.empty()) seeds.push_back(seed);
  std::vector<spec::StudyPoint> points;
  for (const Setting& setting : settings) {
    spec::StudyPoint point{set, {}, 1};
    for (const auto& [name, value] : setting)
      point.set[name] = spec::to_string(value);
    for (const auto& each : seeds) {
      point.seed = each;
      for (point.repetition = 1; point.repetition <= study.repeat; ++point.repetition)
        points.push_back(point);
    }
  }
  return points;
}

std::set<Texts> settings_of(const std::vector<spec::StudyPoint>& points) {
  std::set<Texts> settings;
  for (const spec::StudyPoint& point : points)
    settings.insert(point.set);
  return settings;
}

std::vector<std::string> varied_parameters(const std::vector<spec::StudyPoint>& points) {
  std::set<std::string> varied;
  for (const spec::StudyPoint& point : points) {
    for (const auto& [name, value] : point.set) {
      if (points.front().set.at(name) != value) varied.insert(name);
    }
  }
  return {varied.begin(), varied.end()};
}

std::string point_text(const spec::StudyPoint& point, const std::vector<std::string>& varied) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const std::string& name : varied)
    add(name + "=" + point.set.at(name));
  if (point.seed) add("seed=" + std::to_string(*point.seed));
  return text;
}

std::string perturbation_parameter(const std::string& kind) {
  return "perturb_" + kind;
}

spec::ValueLists perturbed_runs(const RunRequest& request, const std::string& kind, int repeat) {
  const std::string option = "--perturb " + base::printable(kind) + ": ";
  if (kind != "1ulp") throw Error(base::ErrorKind::usage, option + "unknown", "there is '1ulp'");
  const std::string name = perturbation_parameter(kind);
  const spec::Parameter* parameter = request.recipe.parameter(name);
  const bool is_number = parameter != nullptr && parameter->type == spec::ParameterType::integer &&
                         parameter->default_value == spec::ParameterValue(std::int64_t{0});
  if (!is_number) {
    throw Error(base::ErrorKind::usage,
                option + "the recipe '" + request.recipe.name + "' does not support it",
                "a recipe whose code can perturb declares the parameter '" + name +
                    "', an int that is 0 by default");
  }
  if (request.set.contains(name))
    throw Error(base::ErrorKind::usage, option + "cannot be used with --set " + name);
  if (!request.seed) {
    throw Error(base::ErrorKind::usage,
                option + "needs --seed, the seed of the run to perturb",
                "runs of other seeds differ by more than a perturbation");
  }
  spec::ValueLists lists;
  for (std::int64_t i = 1; i <= repeat; ++i)
    lists[name].emplace_back(i);
  return lists;
}

}  // namespace sabath::planning
