#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

struct stat;

namespace sabath::env {

/// Makes a folder that nobody else can write, whatever the umask. Returns false where the name is
/// taken. Throws Error{storage|not_found}.
bool make_new_folder(const std::filesystem::path& path, unsigned mode = 0755);
/// Makes a folder and its missing parents, whatever the umask. Only this user can write it, and the
/// group where it may write the folder above, as in shared caches. An existing folder stays
/// unchanged. Throws Error{storage}.
void make_own_folder(const std::filesystem::path& path);

/// Returns the entries of a folder in any order, as far as it can be read.
std::vector<std::filesystem::directory_entry> entries_in(const std::filesystem::path& folder);

/// Makes a finished prefix read-only (0555, 0444) and durable. Throws Error{storage}.
void seal_prefix(const std::filesystem::path& prefix);

/// A file or folder that could not be read.
struct WalkProblem {
  std::string path{};
  int code = 0;  ///< an errno
};
/// Called for each file and folder, from several threads. Returns false to end the walk.
using PrefixVisitor = std::function<bool(const std::string& path, const struct stat& status)>;
/// Visits everything beneath `prefix`, each folder before its content, without following links.
/// Returns what could not be read, if that ended the walk.
std::optional<WalkProblem> walk_prefix(const std::filesystem::path& prefix,
                                       const PrefixVisitor& visit);

}  // namespace sabath::env
