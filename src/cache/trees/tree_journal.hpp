#pragma once

#include <sabath/cache/partial.hpp>

#include <filesystem>
#include <map>
#include <string>

// The journal of a partial tree: a line for each finished file.
namespace sabath::cache {

using FinishedFiles = std::map<std::string, FinishedFile>;

std::string finished_lines(const FinishedFiles& files);
std::string tree_journal_text(const FinishedFiles& files);
/// Ignores a torn last line. Returns nothing for a file that is missing, damaged or of another
/// version. Throws Error{storage} for an unreadable file.
FinishedFiles read_tree_journal(const std::filesystem::path& path);

}  // namespace sabath::cache
