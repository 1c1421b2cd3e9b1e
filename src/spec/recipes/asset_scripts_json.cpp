#include "asset_scripts_json.hpp"

#include "asset_files_json.hpp"
#include "documents/checked_read.hpp"
#include "documents/document_json.hpp"
#include "environment_spec_json.hpp"
#include "parameter_json.hpp"
#include "placeholder.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/script_recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

using base::JsonReader;
using nlohmann::ordered_json;

constexpr std::string_view argument_prefix = "arg.";
constexpr std::string_view script_prefix = "script.";
/// The role that the asset has in the recipe of its script.
constexpr const char* asset_role = "asset";
constexpr std::size_t longest_name = 64;

const AssetScript* script_called(const std::vector<AssetScript>& scripts, std::string_view name) {
  const auto found = std::find_if(
      scripts.begin(), scripts.end(), [&](const auto& script) { return script.name == name; });
  return found == scripts.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<AssetScript>& scripts) {
  std::vector<std::string> names;
  for (const AssetScript& script : scripts)
    names.push_back(script.name);
  return names;
}

/// Depth first: a script comes after those that it needs. Unknown ones are left out, and a circle
/// ends where it closes.
void append_needed(const std::vector<AssetScript>& scripts,
                   const AssetScript& script,
                   std::set<std::string>& seen,
                   std::vector<const AssetScript*>& order) {
  if (!seen.insert(script.name).second) return;
  for (const std::string& name : script.needs) {
    const AssetScript* const needed = script_called(scripts, name);
    if (needed != nullptr) append_needed(scripts, *needed, seen, order);
  }
  order.push_back(&script);
}

/// What applying a script runs, in that order; the script itself is the last.
std::vector<const AssetScript*> workflow_of(const std::vector<AssetScript>& scripts,
                                            const AssetScript& script) {
  std::set<std::string> seen;
  std::vector<const AssetScript*> order;
  append_needed(scripts, script, seen, order);
  return order;
}

bool needs_itself(const std::vector<AssetScript>& scripts, const AssetScript& script) {
  return std::any_of(script.needs.begin(), script.needs.end(), [&](const std::string& name) {
    const AssetScript* const needed = script_called(scripts, name);
    if (needed == nullptr) return false;
    const auto order = workflow_of(scripts, *needed);
    return std::find(order.begin(), order.end(), &script) != order.end();
  });
}

AssetScript read_script(JsonReader reader) {
  AssetScript script;
  script.name = reader.required("name").name();
  script.description = reader.optional("description").string();
  JsonReader command = reader.required("command");
  for (JsonReader& item : command.items())
    check_argument(script.command.emplace_back(item.string()), item);
  if (command.is_array() && (script.command.empty() || script.command.front().empty()))
    command.problem("names no program");
  for (const auto& [name, value] : reader.optional("arguments").members())
    script.arguments.push_back(read_parameter(name, value));
  script.outputs = read_distinct_paths(reader.optional("outputs"), true);
  script.needs = read_distinct(reader.optional("needs"));
  reader.finish();
  return script;
}

void check_needs(const std::vector<AssetScript>& scripts,
                 const AssetScript& script,
                 JsonReader reader) {
  if (!reader.is_array()) return;
  for (JsonReader& item : reader.items()) {
    if (!item.is_string() || script_called(scripts, item.string()) != nullptr) continue;
    item.problem("no script '" + item.string() + "'",
                 base::did_you_mean(item.string(), names_of(scripts)));
  }
  if (needs_itself(scripts, script)) {
    reader.problem("script '" + script.name + "' needs itself, directly or through others");
  }
}

void check_command(const std::vector<AssetScript>& scripts,
                   const AssetScript& script,
                   JsonReader reader) {
  if (!reader.is_array()) return;
  KnownPlaceholders known{{"asset", "output"}, {std::string(argument_prefix)}};
  for (const AssetScript* const needed : workflow_of(scripts, script)) {
    if (needed != &script) known.names.push_back(std::string(script_prefix) + needed->name);
  }
  for (JsonReader& item : reader.items()) {
    if (!item.is_string()) continue;
    const std::string text = item.string();
    check_template(text, known, item);
    for (const std::string& name : placeholders_of(text)) {
      if (name.starts_with(argument_prefix)) check_name(name.substr(argument_prefix.size()), item);
    }
  }
}

/// Scripts that run together have one argument of a name.
void check_arguments(const std::vector<AssetScript>& scripts,
                     const AssetScript& script,
                     JsonReader reader) {
  if (!reader.is_object()) return;
  for (const AssetScript* const needed : workflow_of(scripts, script)) {
    for (const Parameter& theirs : needed->arguments) {
      for (const Parameter& ours : script.arguments) {
        if (ours.name != theirs.name || ours == theirs) continue;
        reader.optional(ours.name).problem("the needed script '" + needed->name +
                                               "' declares the argument '" + ours.name +
                                               "' differently",
                                           "scripts that run together share arguments of one name");
      }
    }
  }
}

/// The command of a script as that of a stage.
std::string stage_template(const std::string& text) {
  std::string result;
  for (const TemplatePiece& piece : template_pieces(text)) {
    if (piece.kind != TemplatePiece::Kind::placeholder) {
      for (const char c : piece.text)
        result += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
    } else if (piece.text == "asset") {
      result += std::string("{dataset.") + asset_role + "}";
    } else if (piece.text.starts_with(argument_prefix)) {
      result += "{param." + piece.text.substr(argument_prefix.size()) + "}";
    } else if (piece.text.starts_with(script_prefix)) {
      result += "{stage." + piece.text.substr(script_prefix.size()) + "}";
    } else {
      result += "{" + piece.text + "}";
    }
  }
  return result;
}

ordered_json stage_of(const AssetScript& script) {
  ordered_json stage = {{"name", script.name}};
  put(stage, "needs", script.needs);
  stage["cache"] = true;
  for (const std::string& text : script.command)
    stage["run"].push_back(stage_template(text));
  put(stage, "outputs", script.outputs);
  return stage;
}

}  // namespace

std::vector<AssetScript> read_scripts(JsonReader reader) {
  std::vector<AssetScript> scripts;
  std::set<std::string> names;
  std::vector<JsonReader> items = reader.items();
  for (const JsonReader& item : items) {
    const AssetScript& script = scripts.emplace_back(read_script(item));
    if (!script.name.empty() && !names.insert(script.name).second) {
      item.problem("two scripts are called '" + script.name + "'");
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object()) continue;
    check_needs(scripts, scripts[i], items[i].optional("needs"));
    check_command(scripts, scripts[i], items[i].optional("command"));
    check_arguments(scripts, scripts[i], items[i].optional("arguments"));
  }
  return scripts;
}

ordered_json json_of(const AssetScript& script) {
  ordered_json json = {{"name", script.name}};
  put(json, "description", script.description);
  json["command"] = script.command;
  for (const Parameter& argument : script.arguments)
    json["arguments"][argument.name] = to_json(argument);
  put(json, "outputs", script.outputs);
  put(json, "needs", script.needs);
  return json;
}

std::vector<ScriptArgument> arguments_of(const Asset& asset, std::string_view name) {
  const AssetScript* const script = script_called(asset.scripts, name);
  if (script == nullptr) {
    throw base::Error(
        base::ErrorKind::not_found,
        "asset '" + asset.name + "': no script '" + base::printable(name) + "'",
        asset.scripts.empty()
            ? "it has none"
            : base::did_you_mean(
                  name, names_of(asset.scripts), "'sabath show " + asset.name + "' lists them"));
  }
  std::vector<ScriptArgument> arguments;
  std::set<std::string> seen;
  const auto order = workflow_of(asset.scripts, *script);
  for (const AssetScript* const each : order) {
    for (const Parameter& declared : each->arguments) {
      if (seen.insert(declared.name).second) arguments.push_back({declared, false});
    }
  }
  for (const AssetScript* const each : order) {
    for (const std::string& text : each->command) {
      for (const std::string& placeholder : placeholders_of(text)) {
        if (!placeholder.starts_with(argument_prefix)) continue;
        Parameter undeclared;
        undeclared.name = placeholder.substr(argument_prefix.size());
        undeclared.default_value = std::string();
        if (seen.insert(undeclared.name).second) arguments.push_back({undeclared, true});
      }
    }
  }
  return arguments;
}

Recipe script_recipe(const Asset& asset, std::string_view name) {
  const std::vector<ScriptArgument> arguments = arguments_of(asset, name);
  const AssetScript& script = *script_called(asset.scripts, name);
  ordered_json recipe = {{"schema", schema_version}};
  const std::string end = "." + script.name;
  const std::size_t room = longest_name - std::min(longest_name - 1, end.size());
  recipe["name"] = (asset.name.substr(0, room) + end).substr(0, longest_name);
  put(recipe, "description", script.description);
  recipe["datasets"] = {{asset_role, asset.name}};
  if (asset.environment) recipe["environment"] = to_json(*asset.environment);
  for (const ScriptArgument& argument : arguments)
    recipe["parameters"][argument.parameter.name] = to_json(argument.parameter);
  for (const AssetScript* const each : workflow_of(asset.scripts, script))
    recipe["stages"].push_back(stage_of(*each));
  return parse_recipe(base::pretty_json(recipe),
                      "script '" + script.name + "' of asset '" + asset.name + "'");
}

}  // namespace sabath::spec
