#include "environment_spec_json.hpp"

#include "checked_read.hpp"
#include "document_json.hpp"
#include "placeholder.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view recipe_folder = "{recipe}";

/// The folder is the recipe's own or lies beneath it: documents name no place outside.
std::string read_source_path(base::JsonReader reader) {
  std::string path = reader.string();
  if (!reader.is_string() || path == recipe_folder) return path;
  const auto problems = template_problems(path, {{"recipe"}, {}});
  for (const TemplateProblem& problem : problems)
    reader.problem(problem.problem, problem.hint);
  if (!problems.empty()) return path;
  const std::string start = std::string(recipe_folder) + "/";
  if (!path.starts_with(start) || !base::is_safe_relative_path(path.substr(start.size()))) {
    reader.problem("'" + path + "' is not a folder beneath the recipe",
                   "write '{recipe}' or '{recipe}/FOLDER', without '..'");
  }
  return path;
}

/// Numbers and truth values as the build system spells them.
std::string read_option(const std::string& build, base::JsonReader reader) {
  if (reader.is_boolean()) {
    if (build == "cmake") return reader.boolean() ? "ON" : "OFF";
    return reader.boolean() ? "1" : "0";
  }
  if (reader.is_number()) return base::canonical_json(reader.json());
  std::string text = reader.string();
  check_argument(text, reader);
  return text;
}

void read_host_layer(LayerSpec& layer, base::JsonReader& reader) {
  base::JsonReader commands = reader.required("commands");
  layer.commands = read_distinct(commands);
  for (std::size_t i = 0; i < layer.commands.size(); ++i) {
    if (layer.commands[i].find('/') == std::string::npos) continue;
    commands.items()[i].problem("'" + layer.commands[i] + "' is a path",
                                "name a program that is found on PATH");
  }
}

std::vector<std::string> read_languages(base::JsonReader reader) {
  if (!reader.exists()) return {"c", "c++"};
  std::vector<std::string> languages = read_distinct(reader);
  if (!reader.is_array()) return languages;
  for (base::JsonReader& item : reader.items())
    if (item.is_string()) item.one_of({"c", "c++", "fortran"});
  return languages;
}

/// A folder of the recipe, or one that the site has.
void check_module_folder(const std::string& folder, base::JsonReader& item) {
  const std::string start = std::string(recipe_folder) + "/";
  const bool is_own =
      folder == recipe_folder ||
      (folder.starts_with(start) && base::is_safe_relative_path(folder.substr(start.size())));
  if (is_own || (folder.starts_with('/') && folder.find_first_of(":{") == std::string::npos))
    return;
  item.problem("'" + folder + "' is not a folder with modulefiles",
               "write '{recipe}/FOLDER', or the absolute path of a folder of the site");
}

void read_modules_layer(LayerSpec& layer, base::JsonReader& reader) {
  base::JsonReader modules = reader.required("modules");
  layer.modules = read_distinct(modules);
  for (std::size_t i = 0; i < layer.modules.size(); ++i) {
    const std::string& name = layer.modules[i];
    if (!name.starts_with('-') && name.find_first_of(" \t:") == std::string::npos) continue;
    modules.items()[i].problem("'" + name + "' is not the name of a module",
                               "name modules one by one, as 'module avail' does");
  }
  base::JsonReader use = reader.optional("use");
  if (!use.exists()) return;
  layer.use = read_distinct(use);
  for (std::size_t i = 0; i < layer.use.size(); ++i)
    check_module_folder(layer.use[i], use.items()[i]);
}

void read_source_layer(LayerSpec& layer, base::JsonReader& reader) {
  layer.path = read_source_path(reader.required("path"));
  layer.build = reader.required("build").one_of({"cmake", "make"});
  for (const auto& [name, value] : reader.optional("options").members()) {
    check_variable_name(name, value);
    layer.options[name] = read_option(layer.build, value);
  }
  layer.languages = read_languages(reader.optional("languages"));
}

LayerSpec read_layer(base::JsonReader reader) {
  LayerSpec layer;
  base::JsonReader kind = reader.required("kind");
  kind.one_of(enum_words<LayerKind>());
  const auto known = parse_enum<LayerKind>(kind.is_string() ? kind.string() : "");
  if (!known) return layer;  // its other keys belong to a kind that nobody knows here
  layer.kind = *known;
  if (layer.kind == LayerKind::host) {
    read_host_layer(layer, reader);
  } else if (layer.kind == LayerKind::modules) {
    read_modules_layer(layer, reader);
  } else {
    read_source_layer(layer, reader);
  }
  base::JsonReader name = reader.optional("name");
  layer.name = name.exists() ? name.name() : std::string(to_string(layer.kind));
  for (auto& [variable, value] : reader.optional("variables").members()) {
    check_variable_name(variable, value);
    layer.variables[variable] = value.string();
    check_argument(layer.variables[variable], value);
  }
  reader.finish();
  return layer;
}

}  // namespace

EnvironmentSpec read_environment_spec(base::JsonReader reader) {
  EnvironmentSpec spec;
  std::set<std::string> names;
  for (const base::JsonReader& item : reader.required("layers").items()) {
    const LayerSpec& layer = spec.layers.emplace_back(read_layer(item));
    if (!layer.name.empty() && !names.insert(layer.name).second) {
      item.problem("two layers are called '" + layer.name + "'", "give one another \"name\"");
    }
  }
  reader.finish();
  return spec;
}

nlohmann::ordered_json to_json(const EnvironmentSpec& spec) {
  auto layers = nlohmann::ordered_json::array();
  for (const LayerSpec& layer : spec.layers) {
    FieldWriter io;
    io("kind", layer.kind);
    io("name", layer.name);
    if (layer.kind == LayerKind::host) {
      io("commands", layer.commands);
    } else if (layer.kind == LayerKind::modules) {
      io("modules", layer.modules);
      io("use", layer.use);
    } else {
      io("path", layer.path);
      io("build", layer.build);
      io("options", layer.options);
      io("languages", layer.languages);
    }
    io("variables", layer.variables);
    layers.push_back(io.take());
  }
  return {{"layers", layers}};
}

base::Digest EnvironmentLock::digest() const {
  return base::sha256_of(base::canonical_json(FieldWriter::written(layers)));
}

nlohmann::ordered_json to_json(const EnvironmentLock& lock) {
  return document_of(lock);
}

EnvironmentLock parse_environment_lock(std::string_view text, const std::string& origin) {
  return parse_document<EnvironmentLock>(text, origin);
}

nlohmann::ordered_json to_json(const BuiltEnvironment& environment) {
  return FieldWriter::written(environment);
}

BuiltEnvironment read_built_environment(base::JsonReader reader) {
  BuiltEnvironment environment;
  FieldReader::read(std::move(reader), environment);
  return environment;
}

}  // namespace sabath::spec
