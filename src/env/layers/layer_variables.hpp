#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// Returns the beginning of messages: "environment layer 'code'".
std::string place_of(const std::string& layer_name);

/// Throws Error{environment}.
[[noreturn]] void throw_environment(const std::string& problem, const std::string& hint = {});
/// Returns PATH; empty where it is not set.
std::string search_path(const base::Environment& variables);

/// Returns "a, b", made safe for a terminal.
std::string in_words(const std::vector<std::string>& names);

/// Returns true for layers whose packages are locked: pip and conda.
bool has_locked_packages(spec::LayerKind kind);

/// Returns a clean environment: PATH, CC, CXX and FC of `user`, and a fixed locale, time zone and
/// date.
base::Environment clean_environment(const base::Environment& user);

/// Sets `own` over `variables`. References see the values before the layer, then `hidden`, so that
/// a layer can add to PATH. Throws Error{environment} for a name that is not set.
void set_own_variables(base::Environment& variables,
                       const std::map<std::string, std::string>& own,
                       const std::string& layer_name,
                       const base::Environment& hidden = {});

/// Removes variables that would lead Python to other packages than the layer locks, except those
/// that the layer sets (`own`). Returns them; nothing for kinds without packages.
base::Environment leave_out_python_paths(base::Environment& variables,
                                         spec::LayerKind kind,
                                         const std::map<std::string, std::string>& own);

/// Keeps Python from reading the user's own packages and from writing bytecode beside a recipe.
void set_python_bounds(base::Environment& variables);

/// Puts the prefix in front of the search paths, then sets the variables of modules or of the
/// activation of packages.
void add_prefix(base::Environment& variables, const spec::BuiltLayer& layer);

/// Adds a ready layer: removes variables that lead to other packages, adds the prefix, then the
/// layer's own variables.
void add_layer(base::Environment& variables, const spec::BuiltLayer& layer);

}  // namespace sabath::env
