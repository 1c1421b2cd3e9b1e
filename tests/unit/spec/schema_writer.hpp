#pragma once

#include "spec/documents/fields_json.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>

namespace sabath::test {

/// JSON Schemas (draft 2020-12) of described values. Types that a document has at several places
/// stand in "$defs".
class SchemaWriter {
 public:
  using Json = nlohmann::ordered_json;
  template <class T>
  using Ref = const T&;

  /// The schema of a document whose root is "schema" and the members of T.
  template <class T>
  static Json document(const std::string& title, const std::string& text) {
    return document(title, text, [](SchemaWriter& io) { describe(io, T{}); });
  }
  /// The same of a document that people write.
  template <class Form>
  static Json document_as(const std::string& title, const std::string& text) {
    return document(title, text, [](SchemaWriter& io) { Form::describe(io, {}); });
  }

  template <class Describe>
  static Json document(const std::string& title,
                       const std::string& text,
                       Describe describe_members) {
    Definitions types;
    SchemaWriter io(types);
    io.properties_["schema"] = {{"const", 1}};
    io.required_.push_back("schema");
    describe_members(io);
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", title},
                   {"description", text}};
    schema.update(io.object());
    inline_single(schema, types);
    for (auto& [name, type] : types) {
      if (type.uses > 0) schema["$defs"][name] = std::move(type.schema);
    }
    return schema;
  }

  template <class T>
  void operator()(const char* key, const T&, const char* note = "") {
    add(key, schema_of<T>(), note);
    required_.push_back(key);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>&, const char* note = "") {
    add(key, schema_of<T>(), note);
  }

  template <class T, class Rule>
  requires(!std::is_convertible_v<Rule, const char*>) void operator()(const char* key,
                                                                      const T&,
                                                                      const Rule& rule,
                                                                      const char* note = "") {
    add(key, schema_by(rule), note);
    if (rule.presence.required) required_.push_back(key);
  }

 private:
  struct Type {
    Json schema{};
    int uses = 0;
  };
  using Definitions = std::map<std::string, Type>;

  explicit SchemaWriter(Definitions& types) : types_(types) {}

  void add(const char* key, Json schema, std::string_view note) {
    if (!note.empty()) schema["description"] = note;
    properties_[key] = std::move(schema);
  }

  Json object() {
    return {{"type", "object"},
            {"properties", std::move(properties_)},
            {"patternProperties", {{"^x-", Json::object()}}},
            {"additionalProperties", false},
            {"required", std::move(required_)}};
  }

  template <class T>
  Json schema_of() {
    if constexpr (std::is_same_v<T, double>) {
      return reference(
          "number",
          {{"anyOf", {{{"type", "number"}}, {{"enum", {"NaN", "Infinity", "-Infinity"}}}}}});
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, std::string>) {
      return {{"type", "string"}};
    } else if constexpr (std::unsigned_integral<T>) {
      return {{"type", "integer"}, {"minimum", 0}};
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::chrono::seconds>) {
      return {{"type", "integer"}};
    } else if constexpr (std::is_enum_v<T>) {
      return {{"enum", spec::enum_words<T>()}};
    } else if constexpr (std::is_same_v<T, base::Digest>) {
      return reference(
          "digest",
          {{"type", "string"},
           {"pattern",
            "^((sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}|sha1:[0-9a-f]{40}|md5:[0-9a-f]{32}))?$"}});
    } else if constexpr (std::is_same_v<T, spec::ParameterValue>) {
      return {{"type", {"string", "number", "boolean", "array"}}};
    } else if constexpr (spec::is_vector<T>) {
      return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
    } else if constexpr (spec::is_map<T>) {
      return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
    } else {
      const std::string name = name_of<T>();
      if (!types_.contains(name)) {
        SchemaWriter io(types_);
        describe(io, T{});
        return reference(name, io.object());
      }
      return reference(name, {});
    }
  }

  static Json schema_by(const spec::TextRule& rule) {
    Json schema = {{"type", "string"}};
    if (*rule.pattern != '\0') {
      schema["pattern"] = "^(" + std::string(rule.pattern) + ")$";
    } else if (rule.one_line) {
      schema["pattern"] = "^[^\\n\\r]*$";
    }
    if (!rule.may_be_empty) schema["minLength"] = 1;
    return schema;
  }
  static Json schema_by(const spec::NameRule&) {
    return {{"type", "string"}, {"pattern", "^[a-z0-9][a-z0-9._-]{0,63}$"}};
  }
  static Json schema_by(const spec::FlagRule&) { return {{"type", "boolean"}}; }
  static Json schema_by(const spec::CountRule& rule) {
    Json schema = {{"type", "integer"}, {"minimum", rule.least}};
    if (rule.most < std::numeric_limits<int>::max()) schema["maximum"] = rule.most;
    return schema;
  }
  static Json schema_by(const spec::AmountRule& rule) {
    Json schema = {{"type", "number"}};
    if (!rule.may_be_negative) schema["minimum"] = 0;
    return schema;
  }
  Json schema_by(const spec::SizeRule&) {
    return reference("size",
                     {{"anyOf", {{{"type", "integer"}, {"minimum", 0}}, {{"type", "string"}}}}});
  }
  Json schema_by(const spec::TimeRule&) {
    const Json seconds = {
        {"type", "integer"}, {"minimum", 1}, {"maximum", base::longest_duration.count()}};
    return reference("time", {{"anyOf", {seconds, {{"type", "string"}}}}});
  }
  template <class Item>
  Json schema_by(const spec::ListRule<Item>& rule) {
    Json schema = {{"type", "array"}, {"items", schema_by(rule.item)}};
    if (rule.distinct) schema["uniqueItems"] = true;
    if (!rule.may_be_empty) schema["minItems"] = 1;
    return schema;
  }
  template <class Key, class Item>
  Json schema_by(const spec::MapRule<Key, Item>& rule) {
    return {{"type", "object"},
            {"propertyNames", schema_by(rule.key)},
            {"additionalProperties", schema_by(rule.item)}};
  }
  template <class Form>
  Json schema_by(const spec::PartRule<Form>&) {
    SchemaWriter io(types_);
    Form::describe(io, typename Form::Value{});
    return io.object();
  }
  template <class Form>
  Json schema_by(const spec::PartsRule<Form>&) {
    return {{"type", "array"}, {"items", schema_by(spec::PartRule<Form>{})}};
  }

  Json reference(const std::string& name, Json schema) {
    Type& type = types_[name];
    if (++type.uses == 1) type.schema = std::move(schema);
    return {{"$ref", "#/$defs/" + name}};
  }

  /// "PlannedInput" of sabath::spec::PlannedInput.
  template <class T>
  static std::string name_of() {
    std::string_view name = __PRETTY_FUNCTION__;
    name = name.substr(name.find("T = ") + 4);
    name = name.substr(0, name.find_first_of(";]"));
    return std::string(name.substr(name.rfind(':') + 1));
  }

  /// Puts a type that one place has at that place.
  static void inline_single(Json& schema, Definitions& types) {
    if (schema.is_object() && schema.contains("$ref")) {
      const auto type = types.find(schema["$ref"].get<std::string>().substr(8));
      if (type->second.uses == 1) {
        Json whole = std::move(type->second.schema);
        type->second.uses = 0;
        if (schema.contains("description")) whole["description"] = schema["description"];
        schema = std::move(whole);
      }
    }
    if (!schema.is_structured()) return;
    for (auto& member : schema)
      inline_single(member, types);
  }

  Definitions& types_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

/// The text of a schema: an object or array stands on one line where it fits.
inline std::string compact_text(const nlohmann::ordered_json& json, std::size_t indent = 0) {
  constexpr std::size_t width = 150;
  std::string line = json.dump();
  if (!json.is_structured() || json.empty() || indent + line.size() + json.size() < width) {
    std::string text;  // with a blank behind ',' and ':', but for those within strings
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (line[i] == '\\') {
        text += line[++i];
      } else if (line[i] == '"') {
        in_string = !in_string;
      } else if (!in_string && (line[i] == ',' || line[i] == ':')) {
        text += ' ';
      }
    }
    return text;
  }
  const bool is_object = json.is_object();
  std::string text = is_object ? "{" : "[";
  for (const auto& [key, member] : json.items()) {
    text += (text.size() > 1 ? ",\n" : "\n") + std::string(indent + 2, ' ');
    if (is_object) text += nlohmann::ordered_json(key).dump() + ": ";
    text += compact_text(member, indent + 2);
  }
  return text + "\n" + std::string(indent, ' ') + (is_object ? "}" : "]");
}

}  // namespace sabath::test
