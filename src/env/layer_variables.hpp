#pragma once

#include <sabath/base/process.hpp>
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
/// add to PATH. Throws Error{environment} for a name that is not set.
void set_own_variables(base::Environment& variables,
                       const std::map<std::string, std::string>& own,
                       const std::string& layer_name);

/// Adds a layer that is ready: its prefix in front of the search paths, then what
/// its modules set, then its own variables.
void add_layer(base::Environment& variables, const spec::BuiltLayer& layer);

}  // namespace sabath::env
