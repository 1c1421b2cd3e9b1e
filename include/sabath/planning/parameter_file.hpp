#pragma once

#include <sabath/spec/recipe.hpp>

#include <map>
#include <string>
#include <string_view>

// Parameters in the file format of a benchmark itself: INI with Python literals, YAML, or JSON.

namespace sabath::planning {

/// Reads the values that `text` gives the recipe's parameters, as texts for --set. Parameters that
/// it does not have are left out. Throws Error{usage} for an unreadable file, for a key that the
/// recipe's own file lacks, and for another value of a key without a parameter. Throws Error{usage}
/// where the recipe has no parameter file, Error{not_found} where it is not there.
std::map<std::string, std::string> read_parameter_file(const spec::Recipe& recipe,
                                                       std::string_view text,
                                                       const std::string& origin);

/// Returns the recipe's parameter file with these values. An INI file keeps its other lines; YAML
/// and JSON keep keys and values, not comments. Throws as above.
std::string write_parameter_file(const spec::Recipe& recipe, const spec::ParameterValues& values);

}  // namespace sabath::planning
