#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/parameter.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::provenance {

/// An argument, and the words that it may be made of for whoever reads it: a shell, or a program
/// that takes "--file=/x". What a shell writes to is none.
std::vector<std::string> words_of(const std::string& argument);

/// The file that a word names: by an absolute path, or as a program on the PATH.
std::optional<std::filesystem::path> file_named_by(const std::string& word,
                                                   const std::string& path_variable);

/// What the kernel starts in place of a script, with its arguments; empty: the file is none.
std::string interpreter_of(const std::filesystem::path& file);

/// Do stages name files that lie around the recipe's folder, as "{recipe}/../train.sh"?
bool names_surroundings(const spec::Recipe& recipe);

inline constexpr std::string_view outer_file_prefix = "file ";
/// Code and settings outside of the recipe's folder that its stages name by a path: "file PATH",
/// with the path as the recipe has it, -> digest. Neither what belongs to the system, nor programs
/// (of which the record has what was loaded), nor what is too large to be either.
std::map<std::string, std::string> outer_files(const spec::Recipe& recipe);
/// The same of further files that the stages of a run name by an absolute path: data, and nothing
/// that was written since `planned`, such as a log.
std::map<std::string, std::string> outer_data(const spec::Recipe& recipe, base::WallTime planned);
/// Code that stages, or the values of parameters, name by an absolute path: scripts, and folders
/// that have some. Not what belongs to the system.
std::set<std::filesystem::path> named_code(const spec::Recipe& recipe,
                                           const spec::ParameterValues& parameters);

}  // namespace sabath::provenance
