#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// "environment layer 'code'": how messages begin.
std::string place_of(const std::string& layer_name);

/// "a, b", made safe for a terminal.
std::string in_words(const std::vector<std::string>& names);

/// What a program starts with when nothing may leak in from the user: of `user` only PATH, CC, CXX
/// and FC; locale, time zone and dates are fixed.
base::Environment clean_environment(const base::Environment& user);

/// Sets `own` over `variables`. References see the values before the layer, so that a layer can
/// add to PATH, and `hidden` where those have no such name. Throws Error{environment} for a name
/// that is not set.
void set_own_variables(base::Environment& variables,
                       const std::map<std::string, std::string>& own,
                       const std::string& layer_name,
                       const base::Environment& hidden = {});

/// Takes out of `variables` what would lead Python to other packages than a layer of this kind
/// locks, but for what the layer sets by itself (`own`). Returns it; nothing for other kinds.
base::Environment leave_out_python_paths(base::Environment& variables,
                                         spec::LayerKind kind,
                                         const std::map<std::string, std::string>& own);

/// What Python may neither read nor write: the user's own packages, and bytecode beside a recipe.
void set_python_bounds(base::Environment& variables);

/// The first part of `add_layer`: the prefix in front of the search paths, then what its modules,
/// or the activation of its packages, set.
void add_prefix(base::Environment& variables, const spec::BuiltLayer& layer);

/// Adds a layer that is ready: leaves out what would lead to other packages than it locks, adds
/// its prefix, then its own variables.
void add_layer(base::Environment& variables, const spec::BuiltLayer& layer);

}  // namespace sabath::env
