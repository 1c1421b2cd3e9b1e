#include "layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Folders of a prefix that programs, compilers and build systems search.
constexpr std::array<std::pair<const char*, const char*>, 9> search_paths{
    {{"PATH", "bin"},
     {"LD_LIBRARY_PATH", "lib64"},
     {"LD_LIBRARY_PATH", "lib"},
     {"LIBRARY_PATH", "lib64"},
     {"LIBRARY_PATH", "lib"},
     {"CPATH", "include"},
     {"PKG_CONFIG_PATH", "lib64/pkgconfig"},
     {"PKG_CONFIG_PATH", "lib/pkgconfig"},
     {"CMAKE_PREFIX_PATH", "."}}};

/// Returns the name of a reference at `text[at]`, just after '$', and moves `at` behind it; empty
/// for none.
std::string take_name(std::string_view text, std::size_t& at) {
  const bool braced = at < text.size() && text[at] == '{';
  const std::size_t first = braced ? at + 1 : at;
  std::size_t last = first;
  const auto is_in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  while (last < text.size() && is_in_name(static_cast<unsigned char>(text[last])))
    ++last;
  if (braced && (last >= text.size() || text[last] != '}')) return {};
  at = braced ? last + 1 : last;
  return std::string(text.substr(first, last - first));
}

std::string expand_references(std::string_view text,
                              const base::Environment& before,
                              const std::string& place) {
  std::string expanded;
  for (std::size_t at = 0; at < text.size();) {
    const char character = text[at++];
    if (character != '$') {
      expanded += character;
    } else if (at < text.size() && text[at] == '$') {
      expanded += text[at++];
    } else {
      const std::string name = take_name(text, at);
      if (name.empty()) {
        throw_environment(place + ": '" + base::printable(text) + "': a '$' without a name",
                          "write $NAME, ${NAME}, or $$ for a dollar");
      }
      const auto found = before.find(name);
      if (found == before.end()) {
        throw_environment(place + ": '$" + name + "' is not set by an earlier layer",
                          "a layer's variables see those of the layers before it, not each other");
      }
      expanded += found->second;
    }
  }
  return expanded;
}

}  // namespace

std::string place_of(const std::string& layer_name) {
  return "environment layer '" + layer_name + "'";
}

void throw_environment(const std::string& problem, const std::string& hint) {
  throw base::Error(base::ErrorKind::environment, problem, hint);
}

std::string search_path(const base::Environment& variables) {
  return base::variable_of(variables, "PATH");
}

std::string in_words(const std::vector<std::string>& names) {
  return base::printable(fmt::format("{}", fmt::join(names, ", ")));
}

bool has_locked_packages(spec::LayerKind kind) {
  return kind == spec::LayerKind::pip || kind == spec::LayerKind::conda;
}

base::Environment clean_environment(const base::Environment& user) {
  base::Environment clean{{"HOME", "/nonexistent"},
                          {"LANG", "C.UTF-8"},
                          {"LC_ALL", "C.UTF-8"},
                          {"TZ", "UTC"},
                          // 1980-01-01, the first day that zip archives know.
                          {"SOURCE_DATE_EPOCH", "315532800"}};
  for (const char* name : {"PATH", "CC", "CXX", "FC"}) {
    if (const std::string value = base::variable_of(user, name); !value.empty())
      clean.insert({name, value});
  }
  return clean;
}

void set_own_variables(base::Environment& variables,
                       const std::map<std::string, std::string>& own,
                       const std::string& layer_name,
                       const base::Environment& hidden) {
  base::Environment before = variables;
  before.insert(hidden.begin(), hidden.end());
  for (const auto& [name, text] : own)
    variables[name] = expand_references(text, before, place_of(layer_name) + ": " + name);
}

base::Environment leave_out_python_paths(base::Environment& variables,
                                         spec::LayerKind kind,
                                         const std::map<std::string, std::string>& own) {
  base::Environment left_out;
  if (!has_locked_packages(kind)) return left_out;
  for (const char* const name : {"PYTHONHOME", "PYTHONPATH"}) {
    if (!own.contains(name)) left_out.insert(variables.extract(name));
  }
  return left_out;
}

void set_python_bounds(base::Environment& variables) {
  variables["PYTHONNOUSERSITE"] = "1";
  variables["PYTHONDONTWRITEBYTECODE"] = "1";
}

void add_prefix(base::Environment& variables, const spec::BuiltLayer& layer) {
  if (!layer.prefix.empty()) {
    for (const auto& [name, folder] : search_paths) {
      const fs::path path = (fs::path(layer.prefix) / folder).lexically_normal();
      std::error_code code;
      if (!fs::is_directory(path, code)) continue;
      // Packages of conda find their libraries themselves; programs of the host would find them
      // too, and break.
      const bool is_library_path = std::string_view(name) == "LD_LIBRARY_PATH";
      if (is_library_path && layer.lock.kind == spec::LayerKind::conda) continue;
      const std::string front = fs::path(folder) == "." ? layer.prefix : path.string();
      std::string& list = variables[name];
      list = list.empty() ? front : front + ":" + list;  // an empty item is the working directory
    }
  }
  if (layer.modules) {
    for (const std::string& name : layer.modules->unsets)
      variables.erase(name);
    set_own_variables(variables, layer.modules->sets, layer.lock.name);
  }
}

void add_layer(base::Environment& variables, const spec::BuiltLayer& layer) {
  const base::Environment hidden = leave_out_python_paths(variables, layer.lock.kind, {});
  add_prefix(variables, layer);
  set_own_variables(variables, layer.variables, layer.lock.name, hidden);
}

}  // namespace sabath::env
