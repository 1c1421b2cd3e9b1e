#include "environment_spec_json.hpp"

#include "checked_read.hpp"
#include "document_json.hpp"
#include "placeholder.hpp"

#include <sabath/base/file.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>
#include <regex>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view recipe_folder = "{recipe}";

/// The path is the recipe's own folder or lies beneath it: documents name no place outside.
std::string read_recipe_path(base::JsonReader reader, const std::string& what) {
  std::string path = reader.string();
  if (!reader.is_string() || path == recipe_folder) return path;
  const auto problems = template_problems(path, {{"recipe"}, {}});
  for (const TemplateProblem& problem : problems)
    reader.problem(problem.problem, problem.hint);
  if (!problems.empty()) return path;
  const std::string start = std::string(recipe_folder) + "/";
  if (!path.starts_with(start) || !base::is_safe_relative_path(path.substr(start.size()))) {
    reader.problem("'" + path + "' is not a " + what + " beneath the recipe",
                   "write '{recipe}/NAME', without '..'");
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

std::vector<std::string> read_commands(base::JsonReader reader) {
  std::vector<std::string> commands = read_distinct(reader);
  for (base::JsonReader& item : reader.items()) {
    if (!item.is_string() || item.string().find('/') == std::string::npos) continue;
    item.problem("'" + item.string() + "' is a path", "name a program that is found on PATH");
  }
  return commands;
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
  layer.path = read_recipe_path(reader.required("path"), "folder");
  layer.build = reader.required("build").one_of({"cmake", "make"});
  for (const auto& [name, value] : reader.optional("options").members()) {
    check_variable_name(name, value);
    layer.options[name] = read_option(layer.build, value);
  }
  layer.languages = read_languages(reader.optional("languages"));
}

std::string read_python(base::JsonReader reader) {
  if (!reader.exists()) return {};
  static const std::regex version("3(\\.[0-9]+){0,2}");
  std::string python = reader.string();
  if (reader.is_string() && !python.starts_with('/') && !std::regex_match(python, version)) {
    reader.problem("'" + python + "' is neither a version nor a path",
                   "such as \"3.11\", or leave it out for the first python3 on PATH");
  }
  check_argument(python, reader);
  return python;
}

std::vector<std::string> read_requirements(base::JsonReader reader) {
  std::vector<std::string> requirements = read_distinct(reader);
  for (base::JsonReader& item : reader.items()) {
    if (!item.is_string() || required_package(item.string())) continue;
    item.problem("'" + item.string() + "' is not a package with versions",
                 "such as \"numpy>=1.26,<2\"; where packages come from is not the recipe's affair");
  }
  return requirements;
}

std::vector<std::string> read_files(base::JsonReader reader) {
  std::vector<std::string> files;
  for (const base::JsonReader& item : reader.items())
    files.push_back(read_recipe_path(item, "file"));
  return files;
}

/// Names of packages, as they are compared.
std::vector<std::string> read_package_names(base::JsonReader reader) {
  std::vector<std::string> names;
  for (base::JsonReader& item : reader.items()) {
    names.push_back(normal_package_name(item.string()));
    if (item.is_string() && required_package(item.string()) != names.back()) {
      item.problem("'" + item.string() + "' is not the name of a package");
    }
  }
  return names;
}

std::vector<std::string> read_imports(base::JsonReader reader) {
  static const std::regex module("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
  std::vector<std::string> imports = read_distinct(reader);
  for (base::JsonReader& item : reader.items()) {
    if (!item.is_string() || std::regex_match(item.string(), module)) continue;
    item.problem("'" + item.string() + "' is not the name of a module");
  }
  return imports;
}

void read_pip_layer(LayerSpec& layer, base::JsonReader& reader) {
  PackageRequest& request = layer.packages;
  request.python = read_python(reader.optional("python"));
  request.requirements = read_requirements(reader.optional("requirements"));
  request.requirement_files = read_files(reader.optional("requirement_files"));
  request.constraints = read_requirements(reader.optional("constraints"));
  request.constraint_files = read_files(reader.optional("constraint_files"));
  request.from_source = read_package_names(reader.optional("from_source"));
  request.imports = read_imports(reader.optional("imports"));
  request.optional_libraries = read_distinct(reader.optional("optional_libraries"));
  layer.commands = read_commands(reader.optional("commands"));
  if (request.requirements.empty() && request.requirement_files.empty()) {
    reader.problem("asks for no package", "name some in \"requirements\"");
  }
}

nlohmann::ordered_json to_json(const PackageRequest& request) {
  FieldWriter io;
  if (!request.python.empty()) io("python", request.python);
  const auto add = [&](const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) io(key, texts);
  };
  add("requirements", request.requirements);
  add("requirement_files", request.requirement_files);
  add("constraints", request.constraints);
  add("constraint_files", request.constraint_files);
  add("from_source", request.from_source);
  add("imports", request.imports);
  add("optional_libraries", request.optional_libraries);
  return io.take();
}

LayerSpec read_layer(base::JsonReader reader) {
  LayerSpec layer;
  base::JsonReader kind = reader.required("kind");
  kind.one_of(enum_words<LayerKind>());
  const auto known = parse_enum<LayerKind>(kind.is_string() ? kind.string() : "");
  if (!known) return layer;  // its other keys belong to a kind that nobody knows here
  layer.kind = *known;
  if (layer.kind == LayerKind::host) {
    layer.commands = read_commands(reader.required("commands"));
  } else if (layer.kind == LayerKind::modules) {
    read_modules_layer(layer, reader);
  } else if (layer.kind == LayerKind::pip) {
    read_pip_layer(layer, reader);
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
    } else if (layer.kind == LayerKind::pip) {
      if (!layer.commands.empty()) io("commands", layer.commands);
    } else {
      io("path", layer.path);
      io("build", layer.build);
      io("options", layer.options);
      io("languages", layer.languages);
    }
    io("variables", layer.variables);
    layers.push_back(io.take());
    if (layer.kind == LayerKind::pip) layers.back().update(to_json(layer.packages));
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
