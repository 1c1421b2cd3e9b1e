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

/// An argument, and the words that a shell, or a program with options such as "--file=/x", may find
/// in it. Leaves out files that a shell writes to.
std::vector<std::string> words_of(const std::string& argument);

/// The file that a word names: by an absolute path, or as a program on the PATH.
std::optional<std::filesystem::path> file_named_by(const std::string& word,
                                                   const std::string& path_variable);

/// The interpreter of a script, with its arguments; empty if the file is not a script.
std::string interpreter_of(const std::filesystem::path& file);

/// Whether stages name files around the recipe's folder, as "{recipe}/../train.sh".
bool names_surroundings(const spec::Recipe& recipe);

inline constexpr std::string_view outer_file_prefix = "file ";
/// Code and settings outside of the recipe's folder that its stages name by a path: "file PATH",
/// with the path as in the recipe, -> digest. Leaves out files of the system, programs (the record
/// has what was loaded), and files too large for code.
std::map<std::string, std::string> outer_files(const spec::Recipe& recipe);
/// The same for other files that the stages name by an absolute path: data that was not written
/// since `planned`, unlike a log.
std::map<std::string, std::string> outer_data(const spec::Recipe& recipe, base::WallTime planned);
/// Code that stages or parameters name by an absolute path: scripts, and folders with scripts.
/// Leaves out files of the system.
std::set<std::filesystem::path> named_code(const spec::Recipe& recipe,
                                           const spec::ParameterValues& parameters);

}  // namespace sabath::provenance
