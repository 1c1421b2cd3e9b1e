#include "ini_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/planning/parameter_file.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sabath::planning {
namespace {

using base::Error;
using base::ErrorKind;
using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

constexpr std::size_t deepest = 64;
constexpr std::size_t most_nodes = 1'000'000;

[[noreturn]] void refuse(const std::string& problem, const std::string& hint = {}) {
  throw Error(ErrorKind::usage, problem, hint);
}

/// The keys of "Global_Params/dense". In a key "/" is written "~1", and "~" is "~0".
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> keys;
  try {
    for (Pointer pointer("/" + path); !pointer.empty(); pointer.pop_back())
      keys.insert(keys.begin(), pointer.back());
  } catch (const Json::exception&) {
    refuse("'" + base::printable(path) + "' is not a path: write '~' as '~0'");
  }
  return keys;
}

/// A plain scalar has the type that its text has in YAML 1.2, and in 1.1 as well. A text such as
/// "010", which differs in the two, is a text.
Json scalar_of(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // it stands in quotes
  if (node.Tag() != "?" && !node.Tag().empty())
    refuse("has the tag '" + base::printable(node.Tag()) + "'");
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  const std::string_view digits =
      std::string_view(text).substr(text.find_first_of("+-") == 0 ? 1 : 0);
  if (digits.size() > 1 && digits.front() == '0' && digits[1] >= '0' && digits[1] <= '9')
    return text;
  const auto plain = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
  if (const auto whole = base::number_in<std::int64_t>(plain)) return *whole;
  const auto number = base::number_in<double>(plain);
  // A double would lose digits of a long whole number: it stays a text.
  if (number && std::isfinite(*number) && text.find_first_of(".eE") != std::string::npos)
    return *number;
  return text;
}

/// `nodes` counts down: aliases within aliases make a small file large.
Json tree_of(const YAML::Node& node, std::size_t depth, std::size_t& nodes) {
  if (depth > deepest || nodes == 0) refuse("is nested too deep, or has too many values");
  --nodes;
  if (node.IsScalar()) return scalar_of(node);
  if (!node.IsNull() && !node.Tag().empty() && node.Tag() != "?")
    refuse("has the tag '" + base::printable(node.Tag()) + "'");
  if (node.IsSequence()) {
    Json array = Json::array();
    for (const YAML::Node& item : node)
      array.push_back(tree_of(item, depth + 1, nodes));
    return array;
  }
  if (!node.IsMap()) return {};
  Json object = Json::object();
  for (const auto& member : node) {
    if (!member.first.IsScalar()) refuse("has a key that is not a text");
    const std::string& key = member.first.Scalar();
    if (object.contains(key)) refuse("has the key '" + base::printable(key) + "' twice");
    object[key] = tree_of(member.second, depth + 1, nodes);
  }
  return object;
}

/// The parser of Python's YAML reads "1e-05" as a text.
std::string yaml_number(const Json& value) {
  std::string text = value.dump();
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos)
    text.insert(exponent, ".0");
  return text;
}

YAML::Node node_of(const Json& value) {
  YAML::Node node;
  if (value.is_array()) {
    node = YAML::Node(YAML::NodeType::Sequence);
    for (const Json& item : value)
      node.push_back(node_of(item));
    node.SetStyle(YAML::EmitterStyle::Flow);
  } else if (value.is_string()) {
    node = YAML::Node(value.get<std::string>());
    node.SetTag("!");
  } else if (!value.is_null()) {
    node = YAML::Node(value.is_number() ? yaml_number(value) : value.dump());
    node.SetTag("?");
  }
  return node;
}

/// Scalars keep their text: to other readers "no" or "0x10" may be more than a text.
void emit(YAML::Emitter& out, const YAML::Node& node) {
  if (node.IsMap()) {
    out << YAML::BeginMap;
    for (const auto& member : node) {
      out << YAML::Key;
      if (member.first.Tag() == "!") out << YAML::DoubleQuoted;
      out << member.first.Scalar() << YAML::Value;
      emit(out, member.second);
    }
    out << YAML::EndMap;
  } else if (node.IsSequence()) {
    if (node.Style() == YAML::EmitterStyle::Flow) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const YAML::Node& item : node)
      emit(out, item);
    out << YAML::EndSeq;
  } else if (!node.IsScalar() || (node.Scalar().empty() && node.Tag() != "!")) {
    out << YAML::Null;
  } else {
    if (node.Tag() == "!") out << YAML::DoubleQuoted;
    out << node.Scalar();
  }
}

/// Whether a node stands in other places of the document, too.
bool is_shared(const YAML::Node& document, const YAML::Node& node, std::size_t& nodes) {
  std::size_t places = 0;
  const auto count = [&](const auto& self, const YAML::Node& at) -> void {
    if (nodes == 0) refuse("has too many values");
    --nodes;
    if (at.is(node)) ++places;
    for (const auto& member : at)
      self(self, at.IsMap() ? member.second : YAML::Node(member));
  };
  count(count, document);
  return places > 1;
}

/// Another value of one place would leave the old one in the other places.
void refuse_shared(const YAML::Node& document, const std::string& path) {
  std::size_t nodes = most_nodes;
  YAML::Node at = document;
  for (const auto& key : parts_of(path)) {
    at.reset(YAML::Node(at)[key]);
    if (is_shared(document, at, nodes))
      refuse("'" + base::printable(path) + "' has an alias, so that its value stands twice",
             "write the values out where the alias is");
  }
}

/// The document of `text` with other values.
std::string edit_yaml(const std::string& text, const Json& values) {
  YAML::Emitter out;
  // Readers of YAML 1.1 take U+0085, U+2028 and U+2029 for the end of a line.
  out.SetOutputCharset(YAML::EscapeNonAscii);
  std::size_t nodes = most_nodes;
  const auto edited =
      [&](const auto& self, const YAML::Node& node, const Json& value) -> YAML::Node {
    if (tree_of(node, 0, nodes) == value) return node;
    if (!node.IsMap() || !value.is_object()) return node_of(value);
    YAML::Node map(YAML::NodeType::Map);
    for (const auto& member : node)
      map.force_insert(member.first, self(self, member.second, value.at(member.first.Scalar())));
    return map;
  };
  emit(out, edited(edited, YAML::Load(text), values));
  return std::string(out.c_str()) + "\n";
}

Json parse_yaml(const std::string& text) {
  const std::vector<YAML::Node> documents = YAML::LoadAll(text);
  if (documents.size() > 1) refuse("has more than one document");
  std::size_t nodes = most_nodes;
  return documents.empty() ? Json::object() : tree_of(documents.front(), 0, nodes);
}

/// Refuses whole numbers that need more than 64 bits: a double would lose their digits.
class WholeNumbers : public nlohmann::json_sax<Json> {
 public:
  bool number_float(number_float_t, const string_t& text) override {
    if (text.find_first_of(".eE") == string_t::npos)
      refuse("has the number " + text + ", which takes more than 64 bits");
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }
};

Json parse(const std::string& format, std::string_view text, const std::string& origin) {
  if (!base::is_utf8(text)) refuse(origin + ": is not UTF-8");
  Json document;
  try {
    if (format == "ini") return parse_ini(text, origin);
    if (format == "json") {
      base::JsonDocument::parse(text, origin)
          .finish();  // refuses what is nested too deep, and keys that stand twice
      document = Json::parse(text);
      WholeNumbers numbers;
      Json::sax_parse(text, &numbers);
    } else {
      document = parse_yaml(std::string(text));
    }
  } catch (const YAML::Exception& error) {
    refuse(origin + ":" + std::to_string(error.mark.line + 1) + ": " + base::printable(error.msg));
  } catch (const Json::exception& error) {
    refuse(origin + ": is not JSON: " + base::printable(error.what()));
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(origin)) throw;
    refuse(origin + ": " + error.what(), error.hint());
  }
  if (document.is_null()) document = Json::object();
  if (!document.is_object()) refuse(origin + ": has no keys at its top");
  return document;
}

/// In a path "/" parts the keys: one within a key is "~1", and "~" is "~0".
std::string escaped(const std::string& key) {
  return (Pointer() / key).to_string().substr(1);
}

/// "Global_Params/dense" of every value that is not an object.
std::map<std::string, Json> leaves_of(const Json& document, const std::string& above = {}) {
  std::map<std::string, Json> leaves;
  for (const auto& [key, value] : document.items()) {
    const std::string path = (above.empty() ? "" : above + "/") + escaped(key);
    if (value.is_object() && !value.empty()) {
      leaves.merge(leaves_of(value, path));
    } else {
      leaves.emplace(path, value);
    }
  }
  return leaves;
}

bool has_type(const Json& value, spec::ParameterType type) {
  switch (type) {
    case spec::ParameterType::integer:
      return value.is_number_integer();
    case spec::ParameterType::real:
      return value.is_number();
    case spec::ParameterType::boolean:
      return value.is_boolean();
    case spec::ParameterType::text:
    case spec::ParameterType::enumeration:
      return value.is_string();
    case spec::ParameterType::list:
      return value.is_array();
  }
  return false;
}

/// The value as --set has it. Throws Error{usage} for one of another type.
std::string text_for(const spec::Parameter& parameter,
                     const Json& value,
                     const std::string& place) {
  const bool is_list = parameter.type == spec::ParameterType::list;
  const auto is_item = [&](const Json& item) { return has_type(item, parameter.items); };
  if (!has_type(value, parameter.type) || (is_list && !std::ranges::all_of(value, is_item)))
    refuse(place + "is " + base::printable(value.dump()) + ", not " +
           spec::allowed_values(parameter));
  const auto plain = [](const Json& item) {
    return item.is_string() ? item.get<std::string>() : item.dump();
  };
  if (!is_list) return plain(value);
  std::string text;
  for (const Json& item : value) {
    if (item.is_string() && !spec::is_item_text(item.get<std::string>()))
      refuse(place + "has " + base::printable(item.dump()) + ", which is empty or has a comma");
    text += (text.empty() ? "" : ",") + plain(item);
  }
  return text;
}

const spec::ParameterFile& file_of(const spec::Recipe& recipe) {
  if (!recipe.parameter_file)
    refuse("recipe '" + recipe.name + "' has no parameter file",
           "'--set NAME=VALUE' gives a value");
  return *recipe.parameter_file;
}

std::string template_text(const spec::Recipe& recipe) {
  return base::read_file(recipe.directory / file_of(recipe).file);
}

/// Compares keys alone: paths of one section are near one another.
std::string near_path(const std::string& path, const std::vector<std::string>& known) {
  const auto key_of = [](const std::string& one) { return one.substr(one.rfind('/') + 1); };
  std::vector<std::string> keys;
  std::ranges::transform(known, std::back_inserter(keys), key_of);
  const std::string guess = base::nearest(key_of(path), keys);
  if (guess.empty()) return {};
  return "did you mean '" +
         known.at(static_cast<std::size_t>(std::ranges::find(keys, guess) - keys.begin())) + "'?";
}

/// The path must be in the recipe's own file.
Pointer pointer_to(const std::string& path, const Json& document, const std::string& origin) {
  Pointer pointer;
  for (const std::string& key : parts_of(path))
    pointer /= key;
  if (document.contains(pointer) && !document.at(pointer).is_object()) return pointer;
  std::vector<std::string> known;
  for (const auto& [leaf, value] : leaves_of(document))
    known.push_back(leaf);
  refuse(
      origin + ": has no '" + base::printable(path) + "', which the recipe's parameter_file names",
      near_path(path, known));
}

}  // namespace

std::map<std::string, std::string> read_parameter_file(const spec::Recipe& recipe,
                                                       std::string_view text,
                                                       const std::string& origin) {
  const spec::ParameterFile& file = file_of(recipe);
  const auto own = leaves_of(parse(file.format, template_text(recipe), file.file));
  std::map<std::string, std::string> parameters;
  for (const auto& [name, path] : file.keys)
    parameters[path] = name;
  std::vector<std::string> known;
  for (const auto& [path, value] : own)
    known.push_back(path);
  std::map<std::string, std::string> set;
  for (const auto& [path, value] : leaves_of(parse(file.format, text, origin))) {
    const std::string place = origin + ": '" + base::printable(path) + "' ";
    const auto usual = own.find(path);
    if (usual == own.end())
      refuse(place + "is unknown: " + file.file + " of recipe '" + recipe.name + "' lacks it",
             near_path(path, known));
    if (const auto parameter = parameters.find(path); parameter != parameters.end()) {
      const spec::Parameter& of = *recipe.parameter(parameter->second);
      const std::string text_of_value = text_for(of, value, place);
      // The usual value leaves the parameter to a sweep.
      if (spec::parse_parameter(of, text_of_value) != of.default_value)
        set[of.name] = text_of_value;
    } else if (value != usual->second) {
      refuse(place + "is " + base::printable(value.dump()) + ", and the recipe keeps it " +
                 base::printable(usual->second.dump()),
             "only parameters of the recipe have other values");
    }
  }
  return set;
}

std::string write_parameter_file(const spec::Recipe& recipe, const spec::ParameterValues& values) {
  const spec::ParameterFile& file = file_of(recipe);
  std::string text = template_text(recipe);
  Json document = parse(file.format, text, file.file);
  const YAML::Node shown = file.format == "yaml" ? YAML::Load(text) : YAML::Node();
  for (const auto& [name, path] : file.keys) {
    document[pointer_to(path, document, file.file)] = spec::to_json(values.at(name));
    if (file.format == "yaml") refuse_shared(shown, path);
  }
  if (file.format == "ini") return edit_ini(text, document);
  if (document == parse(file.format, text, file.file)) return text;
  return file.format == "json" ? document.dump(2) + "\n" : edit_yaml(text, document);
}

}  // namespace sabath::planning
