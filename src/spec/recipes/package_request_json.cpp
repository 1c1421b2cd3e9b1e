#include "documents/checked_read.hpp"
#include "documents/fields_json.hpp"
#include "layer_spec_json.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/package_lock.hpp>

namespace sabath::spec {
namespace {

std::string read_python(base::JsonReader reader) {
  static const base::Form version("3(\\.[0-9]+){0,2}");
  std::string python = reader.string();
  if (reader.is_string() && !python.starts_with('/') && !version.matches(python)) {
    reader.problem("'" + python + "' is neither a version nor a path",
                   "such as \"3.11\", or leave it out for the first python3 on PATH");
  }
  check_argument(python, reader);
  return python;
}

std::vector<std::string> read_requirements(base::JsonReader reader) {
  return read_distinct(std::move(reader), [](const std::string& text, const auto& item) {
    if (required_package(text)) return;
    item.problem("'" + text + "' is not a package with versions",
                 "such as \"numpy>=1.26,<2\"; your pip configuration sets the index, and the lock "
                 "file has the digests");
  });
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
  static const base::Form module("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
  return read_distinct(std::move(reader), [](const std::string& text, const auto& item) {
    if (!module.matches(text)) item.problem("'" + text + "' is not the name of a module");
  });
}

/// "numpy=1.26", "python >=3.10,<3.12", "conda-forge::libblas=*=*mkl".
std::vector<std::string> read_match_specs(base::JsonReader reader) {
  static const base::Form form(
      "([A-Za-z0-9._/-]+::)?[A-Za-z0-9_][A-Za-z0-9._-]*[ \\[\\]A-Za-z0-9.*<>=!~,|_+'-]*");
  return read_distinct(std::move(reader), [](const std::string& text, const auto& item) {
    if (form.matches(text)) return;
    item.problem("'" + text + "' is not a package with versions",
                 "such as \"numpy=1.26\" or \"python >=3.10,<3.12\"; pip's packages belong to a "
                 "pip layer of their own");
  });
}

/// Names of channels, URLs, or folders of the recipe.
std::vector<std::string> read_channels(base::JsonReader reader) {
  static const base::Form name("[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)*");
  return read_distinct(std::move(reader), [](const std::string& text, const auto& item) {
    if (text.starts_with('{')) {
      read_recipe_path(item, "channel");
    } else if (!name.matches(text)) {
      read_code_url(item, {"https", "http", "file"});
    }
  });
}

}  // namespace

void read_pip_layer(LayerSpec& layer, base::JsonReader& reader) {
  PackageRequest& request = layer.packages;
  request.python = read_python(reader.optional("python"));
  request.requirements = read_requirements(reader.optional("requirements"));
  request.requirement_files = read_recipe_paths(reader.optional("requirement_files"), "file");
  request.constraints = read_requirements(reader.optional("constraints"));
  request.constraint_files = read_recipe_paths(reader.optional("constraint_files"), "file");
  request.from_source = read_package_names(reader.optional("from_source"));
  request.imports = read_imports(reader.optional("imports"));
  request.optional_libraries = read_distinct(reader.optional("optional_libraries"));
  layer.commands = read_commands(reader.optional("commands"));
  if (request.requirements.empty() && request.requirement_files.empty()) {
    reader.problem("asks for no package", "name some in \"requirements\"");
  }
}

void read_conda_layer(LayerSpec& layer, base::JsonReader& reader) {
  PackageRequest& request = layer.packages;
  base::JsonReader list = reader.optional("explicit_file");
  if (list.exists()) {
    request.explicit_file = read_recipe_path(list, "file");
  } else {
    request.requirements = read_match_specs(reader.required("requirements"));
    request.channels = read_channels(reader.required("channels"));
  }
  request.imports = read_imports(reader.optional("imports"));
  request.optional_libraries = read_distinct(reader.optional("optional_libraries"));
  layer.commands = read_commands(reader.optional("commands"));
}

nlohmann::ordered_json written_packages(const LayerSpec& layer) {
  const PackageRequest& request = layer.packages;
  FieldWriter io;
  if (!request.python.empty()) io("python", request.python);
  const auto add = [&](const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) io(key, texts);
  };
  add("requirements", request.requirements);
  add("requirement_files", request.requirement_files);
  add("constraints", request.constraints);
  add("constraint_files", request.constraint_files);
  add("channels", request.channels);
  if (!request.explicit_file.empty()) io("explicit_file", request.explicit_file);
  add("from_source", request.from_source);
  add("imports", request.imports);
  add("optional_libraries", request.optional_libraries);
  add("commands", layer.commands);
  return io.take();
}

}  // namespace sabath::spec
