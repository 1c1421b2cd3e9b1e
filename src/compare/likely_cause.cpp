#include "likely_cause.hpp"

#include "repetition.hpp"

#include <sabath/compare/session_differences.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace sabath::compare {
namespace {

bool differs(const Finding& finding) {
  return finding.item.judged && (finding.item.different > 0 || !finding.item.structure.empty());
}

/// Differences of one facet that affect the same, named together.
struct Group {
  std::string noun{};
  std::vector<std::string> items{};
};

bool is_execution(const spec::FacetDifference& difference,
                  const spec::RunRecord& a,
                  const spec::RunRecord& b) {
  return difference.facet == "parameters" && bearing_of(difference, a, b) == Bearing::environment;
}

std::vector<Group> groups_of(const std::vector<spec::FacetDifference>& differences,
                             const spec::RunRecord& a,
                             const spec::RunRecord& b) {
  std::vector<Group> groups;
  for (const auto& difference : differences) {
    const std::string noun =
        is_execution(difference, a, b) ? "execution parameters" : difference.facet;
    auto group = std::ranges::find(groups, noun, &Group::noun);
    if (group == groups.end()) group = groups.insert(group, {noun, {}});
    group->items.push_back(difference.item);
  }
  // "blas" says more than the names of ten files.
  for (Group& group : groups) {
    if (group.noun != "libraries") continue;
    std::stable_partition(group.items.begin(), group.items.end(), [](const std::string& item) {
      return item.find(".so") == std::string::npos;
    });
  }
  return groups;
}

std::string listed(const std::vector<std::string>& items) {
  constexpr std::size_t shown = 3;
  if (items.size() == 1) return items.front();
  if (items.size() > shown) {
    return fmt::format("{} and {} more",
                       fmt::join(items.begin(), items.begin() + shown, ", "),
                       items.size() - shown);
  }
  return fmt::format("{} and {}", fmt::join(items.begin(), items.end() - 1, ", "), items.back());
}

/// Moves groups that the code may ignore out of `groups`.
std::vector<Group> take_uncertain(std::vector<Group>& groups) {
  const auto is_certain = [](const Group& group) { return !is_uncertain(group.noun); };
  const auto first = std::stable_partition(groups.begin(), groups.end(), is_certain);
  std::vector<Group> uncertain(std::make_move_iterator(first),
                               std::make_move_iterator(groups.end()));
  groups.erase(first, groups.end());
  return uncertain;
}

std::string_view words_of(const std::string& noun) {
  if (noun == spec::session_facet) return "variables of the session";
  if (noun == spec::opened_facet) return "files that they opened";
  return noun;
}

std::string what_differs(const std::vector<Group>& groups,
                         const std::vector<Group>& uncertain,
                         const std::vector<std::string>& around) {
  std::vector<std::string> phrases;
  for (const auto* some : {&groups, &uncertain}) {
    for (const Group& group : *some)
      phrases.push_back(fmt::format("{} ({})", words_of(group.noun), listed(group.items)));
  }
  const std::string differ =
      phrases.empty() ? "" : fmt::format("the runs differ in {}", listed(phrases));
  if (groups.empty() && !around.empty()) {
    return fmt::format("{}the repository around the recipe's folder was in another state ({})",
                       differ.empty() ? "" : differ + ", ",
                       listed(around));
  }
  return differ.empty() ? "nothing that is recorded differs" : differ;
}

/// Other judged metrics of the same stage that have values where `first` diverges, all equal.
std::vector<std::string> still_equal(const Finding& first, const std::vector<Finding>& metrics) {
  std::vector<std::string> names;
  if (!first.item.first_bitwise) return names;
  const StepClock clock(first.stage, metrics);
  for (const Finding& other : metrics) {
    if (&other == &first || !other.item.judged || other.stage != first.stage) continue;
    const bool is_begun =
        other.item.compared > 0 && clock.when(other.begins_at) <= clock.when(first);
    if (is_begun && clock.when(other) > clock.when(first)) names.push_back(other.item.name);
  }
  return names;
}

std::string where_it_began(const Finding& first, const std::vector<Finding>& metrics) {
  const spec::ItemComparison& item = first.item;
  const bool is_metric = std::ranges::find(metrics, &first, [](const Finding& metric) {
                           return &metric;
                         }) != metrics.end();
  if (!item.first_bitwise) return fmt::format("{} is not the same: {}", item.name, item.structure);
  if (!is_metric) {
    return fmt::format("every earlier result is equal, {} diverges first at {}",
                       item.name,
                       item.first_bitwise->where);
  }
  const std::string where = item.first_bitwise->where;
  const std::vector<std::string> equal = still_equal(first, metrics);
  const std::string aside =
      equal.empty() ? std::string{} : fmt::format(" (still equal there: {})", listed(equal));
  if (first.from_start)
    return fmt::format("already the first {} differs, at {}{}", item.name, where, aside);
  return fmt::format("the first {} is equal, it diverges at {}{}", item.name, where, aside);
}

bool has(const std::vector<Group>& groups, std::string_view noun) {
  return std::ranges::find(groups, noun, &Group::noun) != groups.end();
}

bool is_of_threads(const spec::FacetDifference& difference) {
  return difference.facet == "libraries" && difference.item.ends_with(" threads");
}

bool is_of_order(const spec::FacetDifference& difference) {
  return difference.facet == "determinism" && difference.item == "sample_order";
}

bool is_of_program(const spec::FacetDifference& difference) {
  return difference.facet == "libraries" && difference.item.starts_with(spec::program_item);
}

/// Not a program of an earlier record, which has a digest: shells and container engines change with
/// the host, and compute nothing of the run.
bool is_of_library(const spec::FacetDifference& difference) {
  constexpr std::size_t digits = 16;
  if (difference.facet != "libraries" || is_of_threads(difference) || is_of_program(difference))
    return false;
  const bool is_digest = difference.a.size() == digits &&
                         difference.a.find_first_not_of("0123456789abcdef") == std::string::npos;
  return difference.item.find(".so") != std::string::npos || !is_digest;
}

/// What rounding can give a first value, relative: a few hundred units in the last place. Numbers
/// of at most 9 digits, and floats, may be of single precision.
double first_rounding(const spec::Divergence& difference) {
  constexpr double units = 300;
  const auto is_single = [](double value) {
    return value == static_cast<double>(static_cast<float>(value)) ||
           fmt::format("{:.9g}", value) == fmt::format("{:.15g}", value);
  };
  return units * (is_single(difference.a) && is_single(difference.b)
                      ? static_cast<double>(std::numeric_limits<float>::epsilon())
                      : std::numeric_limits<double>::epsilon());
}

/// Can another order of floating-point operations alone have made this difference? It is small
/// then, and of numbers that are not both whole: counters are not rounded.
bool looks_like_rounding(const Finding* finding, bool from_start) {
  if (finding == nullptr || !finding->item.first_bitwise) return false;
  const spec::Divergence& difference = *finding->item.first_bitwise;
  if (!std::isfinite(difference.a) || !std::isfinite(difference.b) || difference.whole_a ||
      difference.whole_b)
    return false;
  const bool are_whole =
      std::trunc(difference.a) == difference.a && std::trunc(difference.b) == difference.b;
  const double largest = from_start ? first_rounding(difference) : 1e-3;
  return !are_whole && difference.relative < largest;
}

std::string execution_text(const std::vector<std::string>& parameters,
                           const Beginning& beginning,
                           bool from_start) {
  const Finding* const begins = beginning.earlier ? beginning.earlier : beginning.first;
  if (!looks_like_rounding(begins, from_start)) {
    const bool is_one = parameters.size() == 1;
    return fmt::format("{} {} {}, which may be the cause",
                       is_one ? "parameter" : "parameters",
                       listed(parameters),
                       is_one ? "differs" : "differ");
  }
  return from_start ? "another order of floating-point operations in the very first value is the "
                      "likely cause"
                    : "rounding in another order of floating-point operations, such as the order "
                      "of summation, is the likely cause";
}

/// Effect of a seed, judged by the initial weights.
std::string seed_text(const FirstSigns& first_signs, bool from_start) {
  if (const auto& weights = first_signs.initial_weights) {
    return weights->differs ? "the initial weights, which the seed decides, are the likely cause"
                            : "what the seed decides after the initial weights, such as the order "
                              "of the data, is the likely cause";
  }
  return from_start ? "what the seed decides before the first step, initial weights or the order "
                      "of the data, is the likely cause"
                    : "what the seed decides, such as the order of the data, is the likely cause";
}

std::map<std::string, int> attempts_joined(const spec::RunRecord& record) {
  std::map<std::string, int> joined;
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.earlier_attempts) joined.emplace(stage.name, *stage.earlier_attempts);
  }
  return joined;
}

/// Says that the runs continued from checkpoints in different ways; else empty.
std::string checkpoint_text(const spec::RunRecord& a, const spec::RunRecord& b) {
  const auto of_a = attempts_joined(a);
  const auto of_b = attempts_joined(b);
  if (of_a == of_b) return {};
  const auto& more = of_a.empty() ? of_b : of_a;
  return fmt::format("{} went on from a checkpoint in stage {}, which {} did not in the same way",
                     of_a.empty() ? "B" : "A",
                     more.begin()->first,
                     of_a.empty() ? "A" : "B");
}

/// Why one run has fewer results; empty where both are complete.
std::string incomplete_text(const spec::RunRecord& a, const spec::RunRecord& b) {
  for (const spec::RunRecord* run : {&a, &b}) {
    if (run->state == spec::RunState::ok || run->state == spec::RunState::imported) continue;
    return fmt::format("{} is not complete ({}), which is cause enough",
                       run == &a ? "A" : "B",
                       spec::to_string(run->state));
  }
  return {};
}

bool are_perturbations(const std::vector<std::string>& parameters) {
  return std::ranges::all_of(parameters,
                             [](const std::string& name) { return name.starts_with("perturb_"); });
}

/// Differences of one kind change results in one way: one sentence tells of all. Empty: it changes
/// none.
std::string kind_of(const spec::FacetDifference& difference,
                    const spec::RunRecord& a,
                    const spec::RunRecord& b) {
  const std::string& facet = difference.facet;
  if (is_execution(difference, a, b)) return "execution parameters";
  if (facet == "recipe" || facet == "data" || facet == "parameters") return "what was asked for";
  if (is_of_program(difference)) return "programs";
  if (is_of_threads(difference)) return "switches";
  if (facet == "determinism") return is_of_order(difference) ? "order" : "switches";
  if (facet == "libraries" && !is_of_library(difference)) return {};
  return facet;
}

/// A file that the runs opened and that belongs to code outside, which is listed as different.
bool is_of_listed_code(const spec::FacetDifference& opened,
                       const std::vector<spec::FacetDifference>& differences) {
  if (opened.facet != spec::opened_facet) return false;
  return std::ranges::any_of(differences, [&](const auto& other) {
    const bool is_named = spec::is_external_code(other.item) || other.item.starts_with("file ");
    if (other.facet != "code" || !is_named) return false;
    std::string_view name = std::string_view(other.item).substr(other.item.find(' ') + 1);
    if (opened.item == name) return true;
    for (const std::string_view relative : {"{recipe}/", "../"}) {
      while (name.starts_with(relative))
        name.remove_prefix(relative.size());
    }
    const std::string part = "/" + std::string(name);
    return opened.item.ends_with(part) || opened.item.find(part + "/") != std::string::npos;
  });
}

/// Whether something around the recipe's folder is not among the opened files.
bool has_unopened(const std::vector<std::string>& around, const std::vector<Group>& uncertain) {
  return std::ranges::any_of(around, [&](const std::string& name) {
    return std::ranges::none_of(uncertain, [&](const Group& group) {
      return group.noun == spec::opened_facet &&
             std::ranges::any_of(
                 group.items, [&](const std::string& path) { return path.ends_with("/" + name); });
    });
  });
}

bool has_several_causes(const std::vector<spec::FacetDifference>& differences,
                        bool other_around,
                        bool other_checkpoint,
                        const spec::RunRecord& a,
                        const spec::RunRecord& b) {
  std::set<std::string> kinds;
  for (const spec::FacetDifference& difference : differences)
    kinds.insert(is_of_listed_code(difference, differences) ? "code" : kind_of(difference, a, b));
  kinds.erase("");
  if (other_around) kinds.insert("around");
  if (other_checkpoint) kinds.insert("checkpoint");
  return kinds.size() > 1;
}

/// Whether the run used a Python of the host, whose packages are unknown.
bool has_python_of_host(const spec::RunRecord& record) {
  if (record.facet("packages") != nullptr) return false;
  const auto holds_packages = [](const spec::BuiltEnvironment& environment) {
    return std::ranges::any_of(environment.layers,
                               [](const auto& layer) { return layer.packages.has_value(); });
  };
  bool is_held = holds_packages(record.environment);
  if (record.variants) {
    for (const auto& [variant, environment] : *record.variants)
      is_held = is_held || holds_packages(environment);
  }
  const spec::Facet* const libraries = record.facet("libraries");
  if (is_held || libraries == nullptr) return false;
  const std::string python = std::string(spec::program_item) + "python";
  const auto first = libraries->items.lower_bound(python);
  return first != libraries->items.end() && first->first.starts_with(python);
}

std::string uncertain_conclusion(const Group& group) {
  const bool is_one = group.items.size() == 1;
  if (group.noun == spec::opened_facet) {
    return fmt::format("{} {} not the same for both, which is the likely cause",
                       listed(group.items),
                       is_one ? "was" : "were");
  }
  return fmt::format(
      "{} {} between the sessions, which is the likely cause where the code reads "
      "it (of values only digests are kept)",
      listed(group.items),
      is_one ? "differs" : "differ");
}

/// Conclusion where at most one difference can change results.
std::string conclusion(const std::vector<Group>& groups,
                       const std::vector<Group>& uncertain,
                       const std::vector<spec::FacetDifference>& differences,
                       const Beginning& beginning,
                       bool from_start,
                       bool has_unknown_packages) {
  const FirstSigns& first_signs = beginning.first_signs;
  if (has(groups, "recipe") || has(groups, "data") || has(groups, "parameters")) {
    return "the runs were asked for different things, which is cause enough";
  }
  if (has(groups, "code")) return "the changed code is the likely cause";
  if (has(groups, "environment")) return "the changed environment is the likely cause";
  if (has(groups, "packages")) return "other packages of Python are the likely cause";
  if (std::ranges::any_of(differences, is_of_program)) {
    return "a program that was built anew is the likely cause";
  }
  if (has(groups, "seed")) return seed_text(first_signs, from_start);
  if (std::ranges::any_of(differences, is_of_order)) {
    return "the order of the data is the likely cause";
  }
  if (std::ranges::any_of(differences, is_of_library)) {
    return "other libraries compute in another order, or with other code, which is the likely "
           "cause";
  }
  if (has(groups, "determinism") || std::ranges::any_of(differences, is_of_threads)) {
    return "the switches and numbers of threads that were set are the likely cause";
  }
  for (const Group& group : groups) {
    if (group.noun != "execution parameters") continue;
    return are_perturbations(group.items)
               ? "the perturbation that was asked for is the likely cause"
               : execution_text(group.items, beginning, from_start);
  }
  if (has(groups, "host")) {
    return "the processor, or what libraries choose for it, is the likely cause";
  }
  if (has(groups, "variables")) {
    return "what these variables lead to (other code, another language) is the likely cause";
  }
  if (has(groups, "launch")) return "the way it was started is the likely cause";
  if (!uncertain.empty()) return uncertain_conclusion(uncertain.front());
  if (!groups.empty()) return "what differs between them is the likely cause";
  if (!beginning.around.empty())
    return "that is the likely cause where the code uses it (what a stage names as "
           "{recipe}/../FILE is recorded)";
  if (first_signs.initial_weights && first_signs.initial_weights->differs)
    return "initial weights that no seed decides are the likely cause";
  return fmt::format(
      "something that is not recorded or not determined, such as {}a race, an unseeded generator "
      "or uninitialised memory, is the likely cause",
      has_unknown_packages ? "packages of the host's Python, which is of no layer, " : "");
}

}  // namespace

const Finding* first_divergent(const std::vector<Finding>& metrics,
                               const std::vector<Finding>& outputs,
                               const StageOrder& stages) {
  const Finding* first = nullptr;
  std::tuple<std::size_t, int, StepClock::When> best{};
  const auto offer = [&](const Finding& finding, int kind, StepClock::When when) {
    const std::tuple place{stages.place(finding.stage), kind, when};
    if (!differs(finding) || (first != nullptr && best <= place)) return;
    first = &finding;
    best = place;
  };
  std::map<std::string, StepClock> clocks;
  for (const Finding& metric : metrics) {
    const auto clock = clocks.try_emplace(metric.stage, metric.stage, metrics).first;
    offer(metric, 0, clock->second.when(metric));
  }
  for (const Finding& output : outputs)
    offer(output, 1, {});
  return first;
}

std::string likely_cause(const Beginning& beginning,
                         const std::vector<Finding>& metrics,
                         const std::vector<spec::FacetDifference>& differences,
                         const spec::RunRecord& a,
                         const spec::RunRecord& b) {
  const auto& [first, earlier, first_signs, around, unseen] = beginning;
  if (first == nullptr && earlier == nullptr) return {};
  std::vector<Group> groups = groups_of(differences, a, b);
  const std::vector<Group> uncertain = take_uncertain(groups);
  std::vector<std::string> began;
  began.push_back(first == nullptr ? "all that is judged is equal"
                                   : where_it_began(*first, metrics));
  if (earlier != nullptr) {
    began.push_back(fmt::format("{}{}, which is not declared, diverges at {}",
                                first == nullptr ? "" : "before that ",
                                earlier->item.name,
                                earlier->item.first_bitwise->where));
  }
  if (std::string text = first_signs.text(); !text.empty()) began.push_back(std::move(text));
  const bool from_start = (first != nullptr && first->from_start) ||
                          (earlier != nullptr && earlier->from_start) ||
                          (first_signs.initial_weights && first_signs.initial_weights->differs);
  const std::string checkpoint = checkpoint_text(a, b);
  if (!checkpoint.empty()) began.push_back(checkpoint);
  const bool other_around = groups.empty() && has_unopened(around, uncertain);
  const bool are_several = has_several_causes(differences, other_around, !checkpoint.empty(), a, b);
  std::string concluded = incomplete_text(a, b);
  if (concluded.empty() && are_several) {
    concluded =
        "one of these differences, or several together, may be the cause; 'sabath help explain' "
        "says how to find out";
  }
  if (concluded.empty() && !checkpoint.empty())
    concluded = "what the code keeps in it, or does once more, is the likely cause";
  if (concluded.empty()) {
    concluded = conclusion(groups,
                           uncertain,
                           differences,
                           beginning,
                           from_start,
                           has_python_of_host(a) || has_python_of_host(b));
  }
  return fmt::format("{}; {}: {}; not looked at: {}",
                     what_differs(groups, uncertain, around),
                     fmt::join(began, "; "),
                     concluded,
                     fmt::join(unseen, ", "));
}

}  // namespace sabath::compare
