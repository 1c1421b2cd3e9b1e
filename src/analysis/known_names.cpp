#include <sabath/analysis/known_names.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/selection_terms.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <algorithm>

namespace sabath::analysis {
namespace {

using base::did_you_mean;
using base::Error;
using base::ErrorKind;
using Names = std::vector<std::string>;

bool is_in(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void append(Names& names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
}

}  // namespace

std::vector<spec::Recipe> KnownNames::recipes() const {
  std::vector<home::BadDocument> bad;
  std::vector<spec::Recipe> recipes;
  for (home::RecipeDocument& document : documents_.recipes(bad))
    recipes.push_back(std::move(document.recipe));
  return recipes;
}

void KnownNames::refuse(const std::string& problem, const std::string& hint) const {
  if (runs_.has_run()) throw Error(ErrorKind::usage, problem, hint);
  observer_.warn(problem, hint);
}

void KnownNames::check_selection(std::string_view selection) const {
  const std::string place = "selection '" + base::printable(selection) + "': ";
  for (const catalog::SelectionTerm& term : runs_.parts_of(selection).terms) {
    check_key(place, term.key);
    if (term.comparison == catalog::Comparison::contains) continue;
    if (term.key == "recipe") check_recipe(place, term.value);
    if (term.key == "study") check_study(place, term.value);
  }
}

void KnownNames::refuse_bare_name(const std::string& word) const {
  if (!runs_.has_parameter(word) && !is_metric(word)) return;
  const std::string name = base::printable(word);
  throw Error(ErrorKind::usage,
              "selection '" + name + "': a parameter or metric without a value",
              "did the shell take '<' or '>' as a redirection? Quote the selection, as in '" +
                  name + "<0.3', or write " + name + ".lt=0.3");
}

bool KnownNames::is_metric(const std::string& name) const {
  if (runs_.has_metric(name)) return true;
  const std::string bare = name.substr(name.find('/') + 1);
  for (const spec::Recipe& recipe : recipes()) {
    for (const spec::MetricSpec& metric : spec::with_derived(recipe.metrics)) {
      if (metric.name == bare || metric.name == name) return true;
    }
  }
  return false;
}

void KnownNames::check_key(const std::string& place, const std::string& typed) const {
  Names known = catalog::selection_keys();
  if (is_in(known, typed) || runs_.has_parameter(typed)) return;
  const auto [prefix, name] = catalog::prefixed(typed);
  const std::string key(name);
  if (prefix == "run") return;  // the catalog knows its own keys
  if (!prefix.empty() && prefix != "param") {
    if (is_metric(key)) return;
    refuse(place + "no metric is called '" + base::printable(key) + "'",
           did_you_mean(key, runs_.metrics(), "'sabath show RUN' lists a run's metrics"));
    return;
  }
  if (runs_.has_parameter(key)) return;
  for (const spec::Recipe& recipe : recipes()) {
    for (const spec::Parameter& parameter : recipe.parameters)
      known.push_back(parameter.name);
  }
  if (is_in(known, key) || (prefix.empty() && is_metric(key))) return;
  append(known, runs_.parameters());
  append(known, runs_.metrics());
  // As host.cpu.model: a facet, or a part of one.
  if (base::nearest(key, known).empty() && key.find('.') != std::string::npos) {
    refuse(place + "'" + base::printable(key) + "' is not a parameter, and facets cannot be terms",
           "'sabath compare' shows facets; 'sabath help selections' lists the terms");
    return;
  }
  refuse(place + "no parameter or metric is called '" + base::printable(key) + "'",
         did_you_mean(key, known, "'sabath help selections' lists the terms"));
}

void KnownNames::check_recipe(const std::string& place, const std::string& name) const {
  if (name.find('*') != std::string::npos) return;
  Names known = runs_.recipes();
  if (is_in(known, name)) return;
  for (const spec::Recipe& recipe : recipes())
    known.push_back(recipe.name);
  if (is_in(known, name)) return;
  refuse(place + "no recipe is called '" + base::printable(name) + "'",
         did_you_mean(name, known, "'sabath list recipes' shows what there is"));
}

void KnownNames::check_study(const std::string& place, const std::string& id) const {
  if (id.find('*') != std::string::npos) return;
  Names known = runs_.studies();
  if (is_in(known, id)) return;
  append(known, home::study_ids(studies_));  // one that has no run yet
  if (is_in(known, id)) return;
  const auto begun =
      std::ranges::find_if(known, [&](const std::string& one) { return one.starts_with(id); });
  refuse(place + "no study is called '" + base::printable(id) + "'",
         begun != known.end() && !id.empty()
             ? "did you mean '" + *begun + "'?"
             : did_you_mean(id, known, "'sabath list studies' shows what there is"));
}

void KnownNames::check_metric(const std::string& option, const std::string& name) const {
  if (runs_.has_metric(name)) return;
  Names known = runs_.metrics();
  for (const spec::Recipe& recipe : recipes()) {
    for (const spec::MetricSpec& metric : spec::with_derived(recipe.metrics))
      known.push_back(metric.name);
  }
  if (is_in(known, name.substr(name.find('/') + 1)) || is_in(known, name)) return;
  refuse(option + " " + base::printable(name) + ": no metric has that name",
         did_you_mean(name, known, "'sabath show RUN' lists a run's metrics"));
}

void KnownNames::check_across(const std::string& option,
                              const std::vector<std::string>& names,
                              const std::vector<catalog::RunRow>& runs,
                              const catalog::Catalog& catalog) const {
  for (const std::string& name : names) {
    Names known{"recipe", "data", "parameters", "task", "batch"};
    if (is_in(known, name) || catalog.values_of(runs, name)) continue;
    append(known, catalog.keys_of(runs));
    throw Error(ErrorKind::usage,
                option + " " + base::printable(name) + ": none of the runs has that",
                did_you_mean(name, known, "recipe, data, parameters, or the name of a parameter"));
  }
}

}  // namespace sabath::analysis
