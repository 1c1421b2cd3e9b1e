#include "schema_checker.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace sabath::test {
namespace {

using nlohmann::json;

const std::set<std::string> object_keywords{
    "properties", "patternProperties", "additionalProperties", "required", "propertyNames"};
const std::set<std::string> ignored_keywords{"$schema", "title", "description", "$defs"};

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

bool has_any_type(const json& value, const json& types) {
  if (types.is_string()) return has_type(value, types);
  return std::any_of(
      types.begin(), types.end(), [&](const json& type) { return has_type(value, type); });
}

bool matches(const json& value, const json& pattern) {
  return !value.is_string() ||
         std::regex_search(value.get<std::string>(), std::regex(pattern.get<std::string>()));
}

bool is_unique(const json& array) {
  return !array.is_array() || std::set<json>(array.begin(), array.end()).size() == array.size();
}

}  // namespace

SchemaChecker::SchemaChecker(const std::string& name) : file_(name + ".schema.json") {
  note_properties(document(file_));
}

std::vector<std::string> SchemaChecker::problems(const json& value) {
  problems_.clear();
  check(value, document(file_), "");
  return problems_;
}

std::set<std::string> SchemaChecker::unused() const {
  std::set<std::string> names;
  for (const json* property : known_) {
    if (!used_.contains(property)) names.insert(names_.at(property));
  }
  return names;
}

const json& SchemaChecker::document(const std::string& file) {
  const auto found = documents_.find(file);
  if (found != documents_.end()) return found->second;
  const auto path = std::filesystem::path(SABATH_SOURCE_DIR) / "docs" / "formats" / file;
  return documents_.emplace(file, json::parse(base::read_file(path))).first->second;
}

void SchemaChecker::note_properties(const json& schema) {
  if (schema.is_array()) {
    for (const json& item : schema)
      note_properties(item);
  }
  if (!schema.is_object()) return;
  for (const auto& [key, member] : schema.items()) {
    note_properties(member);
    if (key != "properties") continue;
    for (const auto& [name, property] : member.items()) {
      known_.insert(&property);
      names_[&property] = name;
    }
  }
}

void SchemaChecker::add(const std::string& pointer, const std::string& problem) {
  problems_.push_back(pointer + ": " + problem);
}

void SchemaChecker::check(const json& value, const json& schema, const std::string& pointer) {
  for (const auto& [keyword, unused_value] : schema.items())
    check_keyword(value, keyword, schema, pointer);
  if (value.is_object()) check_object(value, schema, pointer);
}

void SchemaChecker::check_keyword(const json& value,
                                  const std::string& keyword,
                                  const json& schema,
                                  const std::string& pointer) {
  const json& rule = schema[keyword];
  bool holds = true;
  if (keyword == "$ref") {
    check_reference(value, rule, pointer);
  } else if (keyword == "oneOf" || keyword == "anyOf") {
    check_alternatives(value, keyword, rule, pointer);
  } else if (keyword == "type") {
    holds = has_any_type(value, rule);
  } else if (keyword == "enum") {
    holds = std::find(rule.begin(), rule.end(), value) != rule.end();
  } else if (keyword == "const") {
    holds = value == rule;
  } else if (keyword == "pattern") {
    holds = matches(value, rule);
  } else if (keyword == "minimum") {
    holds = !value.is_number() || value >= rule;
  } else if (keyword == "exclusiveMinimum") {
    holds = !value.is_number() || value > rule;
  } else if (keyword == "minProperties") {
    holds = !value.is_object() || value.size() >= rule.get<std::size_t>();
  } else if (keyword == "maximum") {
    holds = !value.is_number() || value <= rule;
  } else if (keyword == "minLength") {
    holds = !value.is_string() || value.get<std::string>().size() >= rule.get<std::size_t>();
  } else if (keyword == "minItems") {
    holds = !value.is_array() || value.size() >= rule.get<std::size_t>();
  } else if (keyword == "uniqueItems") {
    holds = is_unique(value);
  } else if (keyword == "items") {
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
      check(value[i], rule, pointer + "/" + std::to_string(i));
  } else if (!object_keywords.contains(keyword) && !ignored_keywords.contains(keyword)) {
    add(pointer, "the schema uses '" + keyword + "', which is not checked");
  }
  if (!holds) add(pointer, value.dump() + " breaks " + keyword + " " + rule.dump());
}

void SchemaChecker::check_reference(const json& value,
                                    const std::string& reference,
                                    const std::string& pointer) {
  const auto hash = reference.find('#');
  const std::string outer = file_;
  if (hash > 0) file_ = reference.substr(0, hash);
  check(value, document(file_).at(json::json_pointer(reference.substr(hash + 1))), pointer);
  file_ = outer;
}

void SchemaChecker::check_object(const json& value,
                                 const json& schema,
                                 const std::string& pointer) {
  const json properties = json::object();
  const json& known = schema.contains("properties") ? schema["properties"] : properties;
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) add(pointer, name.dump() + " is missing");
  }
  for (const auto& [name, member] : value.items()) {
    const std::string place = pointer + "/" + name;
    if (schema.contains("propertyNames")) check(json(name), schema["propertyNames"], place);
    if (known.contains(name)) {
      used_.insert(&known[name]);
      check(member, known[name], place);
    } else if (schema.contains("additionalProperties") &&
               !(schema.contains("patternProperties") && name.starts_with("x-"))) {
      const json& others = schema["additionalProperties"];
      if (others == false) add(place, "is not a key");
      if (others.is_object()) check(member, others, place);
    }
  }
}

void SchemaChecker::check_alternatives(const json& value,
                                       const std::string& keyword,
                                       const json& schemas,
                                       const std::string& pointer) {
  std::vector<std::string> outer = std::move(problems_);
  std::vector<std::string> all;
  std::size_t good = 0;
  for (const json& schema : schemas) {
    problems_.clear();
    check(value, schema, pointer);
    if (problems_.empty()) ++good;
    all.insert(all.end(), problems_.begin(), problems_.end());
  }
  problems_ = std::move(outer);
  if (good == 1 || (good > 1 && keyword == "anyOf")) return;
  add(pointer, "holds " + std::to_string(good) + " of " + keyword);
  problems_.insert(problems_.end(), all.begin(), all.end());
}

}  // namespace sabath::test
