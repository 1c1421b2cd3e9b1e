#include "comparable_runs.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/rules.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using Values = std::vector<std::string>;

/// A recipe document and a task of some of the runs.
struct Document {
  spec::RunRecord record{};  ///< of the first of them
  std::uint64_t runs = 0;
};

std::vector<Document> documents_of(const std::vector<RunRow>& runs,
                                   const catalog::Catalog& catalog) {
  const auto digests = catalog.values_of(runs, "recipe_digest");
  const Values tasks = tasks_of(runs);
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::uint64_t>> kinds;
  for (std::size_t i = 0; i < runs.size(); ++i)
    ++kinds.try_emplace({(*digests)[i], tasks[i]}, i, 0).first->second.second;
  std::vector<Document> documents;
  for (const auto& [kind, first] : kinds) {
    const home::RunFiles files(runs[first.first].directory);
    auto record = files.read_record();
    if (!record) {
      throw Error(ErrorKind::not_found,
                  files.record().string() + ": the run's record is gone",
                  "'sabath catalog reindex' removes such runs from the catalog");
    }
    documents.push_back({std::move(*record), first.second});
  }
  return documents;
}

std::string names_of(const std::vector<Document>& documents) {
  std::set<std::string> names;
  for (const Document& document : documents)
    names.insert(document.record.recipe_name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "such (3 runs, such as such-20260101-...), other (2 runs, ...)"; empty for one definition.
std::string definitions_text(const std::vector<Document>& documents, std::size_t& count) {
  const bool is_one = std::ranges::all_of(documents, [&](const Document& document) {
    return document.record.recipe_definition == documents.front().record.recipe_definition;
  });
  std::map<std::string, std::pair<const spec::RunRecord*, std::uint64_t>> definitions;
  for (const Document& document : documents) {
    // Another choice of data sets is a difference of data.
    const base::Digest digest =
        is_one ? document.record.recipe_definition : spec::document_definition(document.record);
    auto& definition = definitions[digest.text()];
    if (definition.first == nullptr) definition.first = &document.record;
    definition.second += document.runs;
  }
  std::string text;
  for (const auto& [digest, definition] : definitions) {
    text += fmt::format("{}{} ({}, such as {})",
                        text.empty() ? "" : ", ",
                        definition.first->recipe_name,
                        base::counted(definition.second, "run"),
                        definition.first->run_id);
  }
  count = definitions.size();
  return text;
}

// ---- what the documents say together

void merge(spec::MetricSpec& known, const spec::MetricSpec& other, CommonTerms& terms) {
  terms.conflicts.merge(compare::conflicts_of(known, other));
  if (known.tolerance != other.tolerance) {
    const auto smaller = compare::smaller_tolerance(known.tolerance, other.tolerance);
    const bool are_other = compare::smaller_tolerance(known.tolerance, known.tolerance) !=
                           compare::smaller_tolerance(other.tolerance, other.tolerance);
    if (are_other) {
      const std::string note = fmt::format(
          "the recipe's documents have other tolerances of {}: the smallest counts", known.name);
      if (std::ranges::find(terms.notes, note) == terms.notes.end()) terms.notes.push_back(note);
    }
    known.tolerance = smaller;
  }
  if (other.margin) known.margin = std::min(known.margin.value_or(*other.margin), *other.margin);
  known.performance = known.performance && other.performance;
  if (known.unit.empty()) known.unit = other.unit;
  known.better = std::max(known.better, other.better);
}

void add_metrics(const std::vector<Document>& documents, CommonTerms& terms) {
  std::map<std::string, std::set<double>> margins;
  std::set<std::string> here;
  for (const Document& document : documents) {
    const spec::RunRecord& record = document.record;
    if (record.recipe_text.empty()) continue;
    for (const spec::MetricSpec& metric :
         spec::parse_recipe(record.recipe_text, record.run_id + ":/recipe").metrics) {
      if (metric.margin) margins[metric.name].insert(*metric.margin);
      (compare::is_elsewhere(metric, record) ? terms.elsewhere : here).insert(metric.name);
      const auto known = std::ranges::find(terms.declared, metric.name, &spec::MetricSpec::name);
      if (known == terms.declared.end()) {
        terms.declared.push_back(metric);
      } else {
        merge(*known, metric, terms);
      }
    }
  }
  for (const std::string& name : here)
    terms.elsewhere.erase(name);
  for (const auto& [metric, distinct] : margins) {
    if (distinct.size() < 2) continue;
    terms.notes.push_back(
        fmt::format("the recipe's documents have other margins of {} ({}): the smallest counts",
                    metric,
                    fmt::join(distinct, ", ")));
  }
}

void add_rungs(const std::vector<Document>& documents, CommonTerms& terms) {
  std::set<std::string> said;
  for (const Document& document : documents) {
    const auto& require = document.record.require;
    said.insert(require ? std::string(spec::to_string(*require)) : "none");
    terms.require = std::max(terms.require, require);
  }
  if (said.size() < 2) return;
  terms.notes.push_back(
      fmt::format("the recipe's documents require other rungs ({}): the strongest counts",
                  fmt::join(said, ", ")));
}

/// A parameter affects only the execution unless a document says otherwise.
void add_parameters(const std::vector<Document>& documents, CommonTerms& terms) {
  std::set<std::string> affects_result;
  for (const Document& document : documents) {
    const auto& execution = document.record.execution_parameters;
    for (const auto& [name, value] : document.record.parameters) {
      terms.parameters.insert(name);
      const bool is_execution = std::ranges::find(execution, name) != execution.end();
      (is_execution ? terms.execution : affects_result).insert(name);
    }
  }
  for (const std::string& name : affects_result) {
    if (terms.execution.erase(name) == 0) continue;
    terms.notes.push_back(
        fmt::format("the recipe's documents do not agree on what {} affects: it is taken to affect "
                    "the result",
                    name));
  }
}

// ---- may they be compared?

struct Forbidden {
  std::vector<std::string> texts{};  ///< "data", "parameter rate"
  std::vector<std::string> names{};  ///< as --across takes them

  void add(std::string text, std::string name) {
    texts.push_back(std::move(text));
    names.push_back(std::move(name));
  }
  std::string text() const {
    return fmt::format("{} differ{}", fmt::join(texts, ", "), texts.size() == 1 ? "s" : "");
  }
  std::string hint() const {
    return fmt::format("--across {} compares them nevertheless", fmt::join(names, ","));
  }
};
Forbidden forbidden(const std::vector<RunRow>& runs,
                    const CommonTerms& terms,
                    const std::set<std::string>& allowed,
                    const catalog::Catalog& catalog) {
  Forbidden found;
  if (const Values tasks = tasks_of(runs); !allowed.contains("task") && varies(tasks)) {
    std::set<std::string> distinct;
    for (const std::string& task : tasks)
      distinct.insert(task.empty() ? "none" : task);
    found.add(fmt::format("task ({})", fmt::join(distinct, ", ")), "task");
  }
  std::vector<std::string> keys{"data"};
  for (const std::string& name : terms.parameters) {
    if (!terms.execution.contains(name)) keys.push_back(name);
  }
  for (const std::string& key : keys) {
    const bool is_parameter = &key != &keys.front();
    if (allowed.contains(key) || allowed.contains("param." + key) ||
        (is_parameter && allowed.contains("parameters")))
      continue;
    // A parameter may be called like something else.
    const auto values = catalog.values_of(runs, is_parameter ? "param." + key : key);
    if (!values || !varies(*values)) continue;
    found.add(is_parameter ? "parameter " + key : key, key);
  }
  return found;
}

}  // namespace

std::vector<RunRow> complete_runs(const std::vector<RunRow>& runs,
                                  const GroupsRequest& request,
                                  const catalog::Catalog& catalog,
                                  spec::GroupComparison& comparison) {
  const std::vector<std::string> reasons =
      why_not_counted(runs, request.named.with_keys(request.by, request.across), catalog);
  std::vector<RunRow> complete;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reasons[i].empty()) continue;
    complete.push_back(runs[i]);
    comparison.imported += runs[i].state == spec::RunState::imported ? 1 : 0;
  }
  comparison.left_out = spec::count_runs(reasons).left_out;
  std::set<std::string> recipes;
  for (const RunRow& run : runs)
    recipes.insert(run.recipe);
  comparison.recipe = fmt::format("{}", fmt::join(recipes, ", "));
  comparison.runs = complete.size();
  return complete;
}

std::optional<CommonTerms> comparable(const std::vector<RunRow>& runs,
                                      const std::set<std::string>& allowed,
                                      const catalog::Catalog& catalog,
                                      spec::GroupComparison& partial) {
  const std::vector<Document> documents = documents_of(runs, catalog);
  partial.recipe = names_of(documents);
  std::size_t definitions = 0;
  const std::string text = definitions_text(documents, definitions);
  if (definitions > 1 && !allowed.contains("recipe")) {
    partial.result = spec::Verdict::not_comparable;
    CommonTerms parameters;
    add_parameters(documents, parameters);
    Forbidden differing = forbidden(runs, parameters, allowed, catalog);
    const std::string too = differing.texts.empty() ? "" : "; " + differing.text() + ", too";
    differing.names.insert(differing.names.begin(), "recipe");
    partial.reason = fmt::format(
        "the runs are of {} definitions: {}{}; {}", definitions, text, too, differing.hint());
    return std::nullopt;
  }
  CommonTerms terms;
  add_metrics(documents, terms);
  add_rungs(documents, terms);
  add_parameters(documents, terms);
  const Forbidden differing = forbidden(runs, terms, allowed, catalog);
  if (differing.texts.empty()) return terms;
  partial.result = spec::Verdict::not_comparable;
  const bool is_one = differing.texts.size() == 1;
  partial.reason = fmt::format("{}, which affect{} the result; group by {}, or {}",
                               differing.text(),
                               is_one ? "s" : "",
                               is_one ? "it" : "them",
                               differing.hint());
  return std::nullopt;
}

Values tasks_of(const std::vector<RunRow>& runs) {
  constexpr std::string_view prefix = "task:";  // as planning::plan_run tags them
  Values tasks;
  for (const RunRow& run : runs) {
    std::string& task = tasks.emplace_back();
    for (const std::string& tag : run.tags) {
      if (tag.starts_with(prefix)) task = tag.substr(prefix.size());
    }
  }
  return tasks;
}

bool varies(const Values& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end();
}

}  // namespace sabath::analysis
