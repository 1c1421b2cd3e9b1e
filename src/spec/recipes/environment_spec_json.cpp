#include "environment_spec_json.hpp"

#include "documents/checked_read.hpp"
#include "documents/document_json.hpp"
#include "layer_spec_json.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

/// A folder of the recipe, or one that the site has.
void check_module_folder(const std::string& folder, const base::JsonReader& item) {
  const std::string recipe_folder = "{recipe}";
  const std::string start = recipe_folder + "/";
  const bool is_own =
      folder == recipe_folder ||
      (folder.starts_with(start) && base::is_safe_relative_path(folder.substr(start.size())));
  if (is_own || (folder.starts_with('/') && folder.find_first_of(":{") == std::string::npos))
    return;
  item.problem("'" + folder + "' is not a folder with modulefiles",
               "write '{recipe}/FOLDER', or the absolute path of a folder of the site");
}

void check_module_name(const std::string& name, const base::JsonReader& item) {
  if (!name.starts_with('-') && name.find_first_of(" \t:") == std::string::npos) return;
  item.problem("'" + name + "' is not the name of a module",
               "name modules one by one, as 'module avail' does");
}

void read_modules_layer(LayerSpec& layer, base::JsonReader& reader) {
  layer.modules = read_distinct(reader.required("modules"), check_module_name);
  layer.use = read_distinct(reader.optional("use"), check_module_folder);
}

/// The keys of its kind.
void read_by_kind(LayerSpec& layer, base::JsonReader& reader) {
  switch (layer.kind) {
    case LayerKind::host:
      layer.commands = read_commands(reader.required("commands"));
      break;
    case LayerKind::modules:
      read_modules_layer(layer, reader);
      break;
    case LayerKind::source:
      read_source_layer(layer, reader);
      break;
    case LayerKind::pip:
      read_pip_layer(layer, reader);
      break;
    case LayerKind::conda:
      read_conda_layer(layer, reader);
      break;
    case LayerKind::container:
      read_container_layer(layer, reader);
      break;
  }
}

nlohmann::ordered_json written_by_kind(const LayerSpec& layer) {
  switch (layer.kind) {
    case LayerKind::host:
      return {{"commands", layer.commands}};
    case LayerKind::modules:
      return {{"modules", layer.modules}, {"use", layer.use}};
    case LayerKind::source:
      return written_source_layer(layer);
    case LayerKind::pip:
    case LayerKind::conda:
      return written_packages(layer);
    case LayerKind::container: {
      auto json = written_container(layer.container);
      if (!layer.commands.empty()) json["commands"] = layer.commands;
      return json;
    }
  }
  return {};
}

LayerSpec read_layer(base::JsonReader reader) {
  LayerSpec layer;
  base::JsonReader kind = reader.required("kind");
  kind.one_of(enum_words<LayerKind>(),
              R"("pip" has packages of PyPI, "conda" those of conda-forge)");
  const auto known = parse_enum<LayerKind>(kind.is_string() ? kind.string() : "");
  if (!known) return layer;  // its other keys belong to a kind that nobody knows here
  layer.kind = *known;
  read_by_kind(layer, reader);
  base::JsonReader name = reader.optional("name");
  layer.name = name.exists() ? name.name() : std::string(to_string(layer.kind));
  base::JsonReader variants = reader.optional("variants");
  layer.variants = read_distinct(variants);
  if (variants.is_array() && layer.variants.empty()) variants.problem("names no variant");
  for (auto& [variable, value] : reader.optional("variables").members()) {
    check_by(variable_name, variable, value);
    layer.variables[variable] = value.string();
    check_argument(layer.variables[variable], value);
  }
  reader.finish();
  return layer;
}

/// Do two layers ever take part together?
bool meet(const LayerSpec& one, const LayerSpec& other) {
  if (one.variants.empty() || other.variants.empty()) return true;
  return std::find_first_of(one.variants.begin(),
                            one.variants.end(),
                            other.variants.begin(),
                            other.variants.end()) != one.variants.end();
}

void check_variants(const EnvironmentSpec& spec, const std::vector<base::JsonReader>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    for (const std::string& variant : layer.variants) {
      if (std::find(spec.variants.begin(), spec.variants.end(), variant) != spec.variants.end())
        continue;
      layers[i].problem(
          "no variant '" + variant + "'",
          "add it to the environment's \"variants\"; the first of them is the default");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!meet(spec.layers[j], layer)) continue;
      if (!layer.name.empty() && spec.layers[j].name == layer.name) {
        layers[i].problem("two layers are called '" + layer.name + "'",
                          "change the \"name\" of one of them");
      } else if (spec.layers[j].kind == LayerKind::container) {
        layers[i].problem("stands after the container '" + spec.layers[j].name + "'",
                          "a container is the last layer: nothing is built in it");
      }
    }
  }
}

}  // namespace

EnvironmentSpec read_environment_spec(base::JsonReader reader) {
  EnvironmentSpec spec;
  base::JsonReader variants = reader.optional("variants");
  spec.variants = read_distinct(variants);
  for (base::JsonReader& item : variants.items())
    item.name();
  const auto layers = reader.required("layers").items();
  for (const base::JsonReader& item : layers)
    spec.layers.push_back(read_layer(item));
  check_variants(spec, layers);
  reader.finish();
  return spec;
}

nlohmann::ordered_json to_json(const EnvironmentSpec& spec) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!spec.variants.empty()) json["variants"] = spec.variants;
  json["layers"] = nlohmann::ordered_json::array();
  for (const LayerSpec& layer : spec.layers) {
    FieldWriter io;
    io("kind", layer.kind);
    io("name", layer.name);
    if (!layer.variants.empty()) io("variants", layer.variants);
    nlohmann::ordered_json& written = json["layers"].emplace_back(io.take());
    written.update(written_by_kind(layer));
    written["variables"] = layer.variables;
  }
  return json;
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

std::string to_text(const LoadedModules& loaded) {
  return document_of(loaded).dump();
}

LoadedModules parse_loaded_modules(std::string_view text, const std::string& origin) {
  return parse_document<LoadedModules>(text, origin);
}

}  // namespace sabath::spec
