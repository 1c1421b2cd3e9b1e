#include "ini_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/parameter_file.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sabath::planning {
namespace {

using base::Error;
using base::ErrorKind;
using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

constexpr std::uint64_t most_bytes = 16U << 20U;
constexpr std::size_t deepest = 64;
constexpr std::size_t most_nodes = 1'000'000;

[[noreturn]] void refuse(const std::string& problem, const std::string& hint = {}) {
  throw Error(ErrorKind::usage, problem, hint);
}

/// A plain scalar has the type that its text has in YAML 1.2.
Json scalar_of(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // it stands in quotes
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  const char* const last = text.data() + text.size();
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(first, last, whole);
      read.ec == std::errc{} && read.ptr == last)
    return whole;
  double number = 0;
  if (const auto read = std::from_chars(first, last, number);
      read.ec == std::errc{} && read.ptr == last && std::isfinite(number))
    return number;
  return text;
}

/// `nodes` counts down: aliases within aliases make a small file large.
Json tree_of(const YAML::Node& node, std::size_t depth, std::size_t& nodes) {
  if (depth > deepest || nodes == 0) refuse("is nested too deep, or has too many values");
  --nodes;
  if (node.IsScalar()) return scalar_of(node);
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
    object[member.first.Scalar()] = tree_of(member.second, depth + 1, nodes);
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

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const Json& item : value)
      emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    out << YAML::DoubleQuoted << value.get<std::string>();
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << (value.is_number() ? yaml_number(value) : value.dump());
  }
}

Json parse(const std::string& format, std::string_view text, const std::string& origin) {
  Json document;
  std::size_t nodes = most_nodes;
  try {
    if (format == "ini") return parse_ini(text, origin);
    document =
        format == "json" ? Json::parse(text) : tree_of(YAML::Load(std::string(text)), 0, nodes);
  } catch (const YAML::Exception& error) {
    refuse(origin + ":" + std::to_string(error.mark.line + 1) + ": " + base::printable(error.msg));
  } catch (const Json::parse_error& error) {
    refuse(origin + ": is not JSON, at byte " + std::to_string(error.byte));
  } catch (const Error& error) {
    if (format == "ini") throw;
    refuse(origin + ": " + error.what());
  }
  if (!document.is_object()) refuse(origin + ": has no keys at its top");
  return document;
}

/// "Global_Params/dense" of every value that is not an object.
std::map<std::string, Json> leaves_of(const Json& document, const std::string& above = {}) {
  std::map<std::string, Json> leaves;
  for (const auto& [key, value] : document.items()) {
    const std::string path = above.empty() ? key : above + "/" + key;
    if (value.is_object() && !value.empty()) {
      leaves.merge(leaves_of(value, path));
    } else {
      leaves.emplace(path, value);
    }
  }
  return leaves;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value)
    text += (text.empty() ? "" : ",") + text_of(item);
  return text;
}

const spec::ParameterFile& file_of(const spec::Recipe& recipe) {
  if (!recipe.parameter_file)
    refuse("recipe '" + recipe.name + "' has no parameter file",
           "'--set NAME=VALUE' gives a value");
  return *recipe.parameter_file;
}

std::string template_text(const spec::Recipe& recipe) {
  return base::read_file(recipe.directory / file_of(recipe).file, most_bytes);
}

/// The path must be in the recipe's own file.
Pointer pointer_to(const std::string& path, const Json& document, const std::string& origin) {
  Pointer pointer;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    pointer /= path.substr(at, end - at);
    at = end + 1;
  }
  if (document.contains(pointer)) return pointer;
  std::vector<std::string> known;
  for (const auto& [leaf, value] : leaves_of(document))
    known.push_back(leaf);
  refuse(
      origin + ": has no '" + base::printable(path) + "', which the recipe's parameter_file names",
      base::did_you_mean(path, known));
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
             base::did_you_mean(path, known));
    if (const auto parameter = parameters.find(path); parameter != parameters.end()) {
      set[parameter->second] = text_of(value);
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
  const std::string text = template_text(recipe);
  Json document = parse(file.format, text, file.file);
  for (const auto& [name, path] : file.keys)
    document[pointer_to(path, document, file.file)] = spec::to_json(values.at(name));
  if (file.format == "ini") return edit_ini(text, document);
  if (file.format == "json") return document.dump(2) + "\n";
  YAML::Emitter out;
  emit(out, document);
  return std::string(out.c_str()) + "\n";
}

}  // namespace sabath::planning
