#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

// Reading and writing what is asked of one layer, by its kind.

namespace sabath::spec {

/// The path is the recipe's own folder or lies beneath it: documents name no place outside.
std::string read_recipe_path(base::JsonReader reader, const std::string& what);
std::vector<std::string> read_recipe_paths(base::JsonReader reader, const std::string& what);
/// Names of programs.
std::vector<std::string> read_commands(base::JsonReader reader);
/// A URL that programs may be given: of one of `schemes`, without a login.
std::string read_code_url(base::JsonReader reader, const std::vector<std::string>& schemes);

void read_source_layer(LayerSpec& layer, base::JsonReader& reader);
void read_pip_layer(LayerSpec& layer, base::JsonReader& reader);
void read_conda_layer(LayerSpec& layer, base::JsonReader& reader);
void read_container_layer(LayerSpec& layer, base::JsonReader& reader);

/// What the layer's kind can be asked for, without name and variables.
nlohmann::ordered_json written_source_layer(const LayerSpec& layer);
nlohmann::ordered_json written_packages(const LayerSpec& layer);
nlohmann::ordered_json written_container(const ContainerRequest& request);

}  // namespace sabath::spec
