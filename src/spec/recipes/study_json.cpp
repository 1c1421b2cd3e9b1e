#include "study_json.hpp"

#include "documents/checked_read.hpp"
#include "documents/document_json.hpp"
#include "documents/value_lists_json.hpp"

#include <sabath/base/error.hpp>

namespace sabath::spec {
namespace {

using base::JsonReader;

ValueLists read_matrix(const Recipe& recipe, JsonReader reader) {
  ValueLists lists;
  for (auto& [name, list] : reader.members()) {
    const Parameter* parameter = known_parameter(recipe, name, list);
    if (parameter != nullptr) lists[name] = read_values(*parameter, list);
  }
  return lists;
}

/// As a matrix, but a value may stand in a list twice: it is the tuples that must differ.
ValueLists read_zip(const Recipe& recipe, const ValueLists& matrix, JsonReader reader) {
  ValueLists lists;
  for (auto& [name, list] : reader.members()) {
    const Parameter* parameter = known_parameter(recipe, name, list);
    if (parameter == nullptr) continue;
    if (matrix.contains(name)) list.problem("'" + name + "' is in the matrix too");
    for (const JsonReader& item : list.items())
      lists[name].push_back(read_value_of(*parameter, item));
    if (list.is_array() && lists[name].empty()) list.problem("must not be empty");
    const std::size_t length = lists.begin()->second.size();
    if (lists[name].size() != length) {
      list.problem("has " + std::to_string(lists[name].size()) + " value(s) where '" +
                       lists.begin()->first + "' has " + std::to_string(length),
                   "paired lists must have the same length");
    }
  }
  return lists;
}

ValueLists read_exclusion(const Recipe& recipe, const Study& study, JsonReader reader) {
  ValueLists lists;
  for (auto& [name, entry] : reader.members()) {
    const Parameter* parameter = known_parameter(recipe, name, entry);
    if (parameter == nullptr) continue;
    if (!study.matrix.contains(name) && !study.zip.contains(name)) {
      entry.problem("'" + name + "' has only one value in this study",
                    "it is neither in the matrix nor in the zip");
    }
    lists[name] = read_value_or_values(*parameter, entry);
  }
  if (reader.is_object() && lists.empty()) reader.problem("would exclude every point");
  return lists;
}

std::vector<std::uint64_t> read_seeds(JsonReader reader) {
  std::string text;
  if (reader.is_array()) {
    for (JsonReader& item : reader.items())
      text += (text.empty() ? "" : ",") + std::to_string(item.unsigned_integer());
  } else {
    text = reader.string();
    if (!reader.is_string()) return {};
  }
  try {
    return parse_seeds(text);
  } catch (const base::Error& error) {
    reader.problem(error.what(), error.hint());
    return {};
  }
}

}  // namespace

std::map<std::string, Study> read_studies(const Recipe& recipe, JsonReader reader) {
  std::map<std::string, Study> studies;
  for (auto& [name, entry] : reader.members()) {
    check_name(name, entry);
    Study& study = studies[name];
    study.matrix = read_matrix(recipe, entry.optional("matrix"));
    study.zip = read_zip(recipe, study.matrix, entry.optional("zip"));
    for (const JsonReader& item : entry.optional("exclude").items())
      study.exclude.push_back(read_exclusion(recipe, study, item));
    study.seeds = read_seeds(entry.optional("seeds"));
    study.repeat = read_count(entry.optional("repeat"), 1, 1);
    entry.finish();
  }
  return studies;
}

nlohmann::ordered_json to_json(const StudyPlan& plan) {
  return document_of(plan);
}

StudyPlan parse_study_plan(std::string_view text, const std::string& origin) {
  return parse_document<StudyPlan>(text, origin);
}

}  // namespace sabath::spec
