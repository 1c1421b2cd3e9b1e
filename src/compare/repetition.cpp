#include "repetition.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace sabath::compare {
namespace {

using Items = std::map<std::string, std::string>;

const Items& items_of(const spec::RunRecord& record, std::string_view facet) {
  static const Items none;
  const spec::Facet* found = record.facet(facet);
  return found == nullptr ? none : found->items;
}

const std::string& item_or_empty(const Items& items, const std::string& key) {
  static const std::string none;
  const auto found = items.find(key);
  return found == items.end() ? none : found->second;
}

/// Empty only where the items lack it.
std::string shown_item(const Items& items, const std::string& key) {
  const auto found = items.find(key);
  return found == items.end() ? std::string() : spec::shown_text(found->second);
}

/// The usual facets as `likely_cause` names them, then others by name.
std::vector<std::string> facet_names(const spec::RunRecord& a, const spec::RunRecord& b) {
  std::vector<std::string> names{"data",
                                 "parameters",
                                 "code",
                                 "environment",
                                 "packages",
                                 "libraries",
                                 "determinism",
                                 "variables",
                                 "seed",
                                 "launch",
                                 "host"};
  std::set<std::string> others;
  for (const auto* record : {&a, &b}) {
    for (const spec::Facet& facet : record->facets) {
      if (std::ranges::find(names, facet.name) == names.end()) {
        others.insert(facet.name);
      }
    }
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

void add_if_different(std::vector<spec::FacetDifference>& differences,
                      spec::FacetDifference difference) {
  if (difference.a != difference.b) differences.push_back(std::move(difference));
}

void add_facet(std::vector<spec::FacetDifference>& differences,
               const std::string& facet,
               const Items& a,
               const Items& b) {
  std::set<std::string> keys;
  for (const auto* items : {&a, &b}) {
    for (const auto& [key, value] : *items)
      keys.insert(key);
  }
  for (const std::string& key : keys) {
    add_if_different(differences, {facet, key, shown_item(a, key), shown_item(b, key)});
  }
}

/// An item of the facet `libraries`: its parts, as "PATH=DIGEST" of files or as what they say of
/// themselves, by path. Words have the empty path.
using Parts = std::map<std::string, std::set<std::string>>;

Parts parts_of(const std::string& value) {
  Parts parts;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find("; ", at), value.size());
    const std::string part = value.substr(at, end - at);
    const std::size_t equals = part.starts_with('/') ? part.rfind('=') : std::string::npos;
    if (equals == std::string::npos) {
      parts[""].insert(part);
    } else {
      parts[part.substr(0, equals)].insert(part.substr(equals + 1));
    }
    at = end + 2;
  }
  return parts;
}

bool has_common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& one) { return b.contains(one); });
}

bool has_changed_file(const Parts& a, const Parts& b) {
  return std::ranges::any_of(a, [&](const auto& part) {
    const auto other = b.find(part.first);
    return !part.first.empty() && other != b.end() && !has_common(part.second, other->second);
  });
}

/// Whether no path, bytes or words are common.
bool have_nothing_in_common(const Parts& a, const Parts& b) {
  // Earlier records have digests without paths.
  if (a.contains("") != b.contains("")) return false;
  return std::ranges::none_of(a, [&](const auto& part) {
    return std::ranges::any_of(b, [&](const auto& other) {
      return (!part.first.empty() && part.first == other.first) ||
             has_common(part.second, other.second);
    });
  });
}

bool saw_all(const spec::RunRecord& record) {
  return record.software && record.software->notes.empty();
}

/// A run's libraries are sampled now and then. A library that was seen in one run and missed in the
/// other is not a difference. So files are compared by path. Copies of one library are compared
/// only where neither run can have missed one, or where other libraries differ for certain.
void add_libraries(std::vector<spec::FacetDifference>& differences,
                   const spec::RunRecord& a,
                   const spec::RunRecord& b) {
  struct Item {
    std::string key{};
    Parts a{};
    Parts b{};
  };
  const Items& of_b = items_of(b, "libraries");
  std::vector<Item> items;
  for (const auto& [key, value] : items_of(a, "libraries")) {
    const auto other = of_b.find(key);
    if (other != of_b.end() && other->second != value)
      items.push_back({key, parts_of(value), parts_of(other->second)});
  }
  const auto is_changed = [](const Item& item) { return has_changed_file(item.a, item.b); };
  const bool is_certain = (saw_all(a) && saw_all(b)) || std::ranges::any_of(items, is_changed);
  for (const Item& item : items) {
    if (!is_changed(item) && !(is_certain && have_nothing_in_common(item.a, item.b))) continue;
    differences.push_back(
        {"libraries", item.key, items_of(a, "libraries").at(item.key), of_b.at(item.key)});
  }
}

/// Reused stages were not observed: items of one run alone count only where all stages ran.
void add_packages(std::vector<spec::FacetDifference>& differences,
                  const spec::RunRecord& a,
                  const spec::RunRecord& b) {
  if (a.facet("packages") == nullptr || b.facet("packages") == nullptr) return;
  std::vector<spec::FacetDifference> all;
  add_facet(all, "packages", items_of(a, "packages"), items_of(b, "packages"));
  const bool is_whole = !reuses_stages(a) && !reuses_stages(b);
  for (spec::FacetDifference& difference : all) {
    const bool in_both = !difference.a.empty() && !difference.b.empty();
    const bool counts =
        in_both ? have_nothing_in_common(parts_of(difference.a), parts_of(difference.b)) : is_whole;
    if (counts) differences.push_back(std::move(difference));
  }
}

/// Drops items that an earlier version of sabath did not record.
void leave_out_unknown(std::vector<spec::FacetDifference>& differences,
                       const spec::RunRecord& a,
                       const spec::RunRecord& b) {
  if (a.facet(spec::scope_facet) != nullptr && b.facet(spec::scope_facet) != nullptr) return;
  std::erase_if(differences, [&](const spec::FacetDifference& one) {
    const bool is_of_session = one.facet == "determinism" || one.facet == "variables";
    const bool is_later = (one.facet == "code" && spec::is_external_code(one.item)) ||
                          (is_of_session && spec::is_later_variable(one.item));
    return is_later &&
           items_of(a, one.facet).contains(one.item) != items_of(b, one.facet).contains(one.item);
  });
}

/// Drops what other code in the recipe's folder makes of source layers: their tree and their keys.
/// Keys of layers after them follow, unless something else of the environment differs.
void leave_out_built_code(std::vector<spec::FacetDifference>& differences) {
  using Difference = spec::FacetDifference;
  const auto is_of = [](const Difference& one, const std::string& ending) {
    return one.facet == "environment" && one.item.ends_with(ending);
  };
  const auto has = [&](const std::string& facet, const std::string& item) {
    return std::ranges::any_of(
        differences, [&](const auto& one) { return one.facet == facet && one.item == item; });
  };
  const auto is_tree = [&](const Difference& one) {
    // A commit is of a source from elsewhere.
    return is_of(one, ".source.tree") && !one.a.empty() && !one.b.empty() &&
           !has("environment", one.item.substr(0, one.item.size() - 4) + "commit");
  };
  const bool is_code = std::ranges::any_of(
      differences, [](const auto& one) { return one.facet == "code" && one.item == "tree"; });
  if (!is_code || std::ranges::none_of(differences, is_tree)) return;
  const bool is_all = std::ranges::all_of(differences, [&](const auto& one) {
    return one.facet != "environment" || is_tree(one) || is_of(one, ".key");
  });
  if (is_all)
    std::erase_if(differences, [](const auto& one) { return one.facet == "environment"; });
}

/// Earlier versions recorded an empty code folder.
void leave_out_empty_tree(Items& code) {
  if (item_or_empty(code, "tree") == base::sha256_of("").text()) code.erase("tree");
}

bool is_execution_parameter(const spec::RunRecord& record, const std::string& name) {
  const auto& names = record.execution_parameters;
  return std::ranges::find(names, name) != names.end();
}

std::string text_or_empty(const base::Digest& digest) {
  return digest.hex.empty() ? std::string{} : digest.text();
}

}  // namespace

std::vector<spec::FacetDifference> facet_differences(const spec::RunRecord& a,
                                                     const spec::RunRecord& b) {
  std::vector<spec::FacetDifference> differences;
  add_if_different(differences, {"recipe", "name", a.recipe_name, b.recipe_name});
  // Another choice of data sets is a difference of data.
  if (a.recipe_definition != b.recipe_definition &&
      spec::document_definition(a) != spec::document_definition(b)) {
    add_if_different(differences,
                     {"recipe",
                      "definition",
                      text_or_empty(a.recipe_definition),
                      text_or_empty(b.recipe_definition)});
  }
  add_if_different(differences,
                   {"recipe", "task", a.task.value_or("none"), b.task.value_or("none")});
  for (const std::string& facet : facet_names(a, b)) {
    Items of_a = items_of(a, facet);
    Items of_b = items_of(b, facet);
    if (facet == "launch") {
      of_a.emplace("user", a.user);
      of_b.emplace("user", b.user);
    }
    if (facet == "code") {
      leave_out_empty_tree(of_a);
      leave_out_empty_tree(of_b);
    }
    if (is_uncertain(facet)) continue;
    const bool is_known = a.facet(facet) != nullptr && b.facet(facet) != nullptr;
    if (facet == "libraries") {
      add_libraries(differences, a, b);
    } else if (facet == "packages") {
      add_packages(differences, a, b);
    } else if ((facet != "determinism" && facet != "variables") || is_known) {
      // Of an earlier sabath that did not look: nothing is known to differ.
      add_facet(differences, facet, of_a, of_b);
    }
  }
  leave_out_unknown(differences, a, b);
  leave_out_built_code(differences);
  return differences;
}

Bearing bearing_of(const spec::FacetDifference& difference,
                   const spec::RunRecord& a,
                   const spec::RunRecord& b) {
  const std::string_view facet = difference.facet;
  if (facet == "recipe" || facet == "data") return Bearing::result;
  if (facet == "parameters") {
    const bool execution =
        is_execution_parameter(a, difference.item) && is_execution_parameter(b, difference.item);
    return execution ? Bearing::environment : Bearing::result;
  }
  if (is_uncertain(facet)) return Bearing::nothing;
  if (facet == "code") return Bearing::code;
  // Nothing else identifies the build of a program of the host.
  if (facet == "libraries" && difference.item.starts_with(spec::program_item))
    return Bearing::environment;
  // Of the session: between two users or hosts these differ as their homes do.
  if (facet == "host" || facet == "launch" || facet == "libraries" || facet == "variables")
    return Bearing::host;
  if (facet == "determinism") {
    const bool is_seed = difference.item == "sample_order" || difference.item.starts_with("seed.");
    return is_seed ? Bearing::seed : Bearing::environment;
  }
  if (facet == "seed") return Bearing::seed;
  return Bearing::environment;
}

spec::Repetition repetition_of(const std::vector<spec::FacetDifference>& differences,
                               const spec::RunRecord& a,
                               const spec::RunRecord& b) {
  Bearing first = Bearing::nothing;
  for (const auto& difference : differences)
    first = std::min(first, bearing_of(difference, a, b));
  constexpr std::array<spec::Repetition, 6> kinds{spec::Repetition::different,
                                                  spec::Repetition::replicate,
                                                  spec::Repetition::revise,
                                                  spec::Repetition::reproduce,
                                                  spec::Repetition::resample,
                                                  spec::Repetition::repeat};
  return kinds[static_cast<std::size_t>(first)];
}

std::vector<spec::FacetDifference> forbidden_differences(
    const std::vector<spec::FacetDifference>& differences,
    const spec::RunRecord& a,
    const spec::RunRecord& b,
    const std::set<std::string>& across) {
  std::vector<spec::FacetDifference> forbidden;
  for (const auto& difference : differences) {
    const bool is_named = difference.facet == "parameters" ||
                          (difference.facet == "recipe" && difference.item == "task");
    const bool allowed =
        across.contains(difference.facet) || (is_named && across.contains(difference.item));
    if (!allowed && bearing_of(difference, a, b) == Bearing::result) {
      forbidden.push_back(difference);
    }
  }
  return forbidden;
}

}  // namespace sabath::compare
