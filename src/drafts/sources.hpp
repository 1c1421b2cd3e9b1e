#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::drafts {

/// Scripts and settings beneath `folder` that the words of a command name, relative to it: files
/// that a command reads, and not what it writes. `-m a.b` names the module's file.
std::vector<std::filesystem::path> named_scripts(const std::vector<std::string>& words,
                                                 const std::filesystem::path& folder);

/// Sources beneath `folder`, relative to it and sorted. Leaves out hidden folders, environments
/// and packages. Empty where they are too many or too large to keep with each run, and where the
/// folder is a home or everybody's.
std::vector<std::filesystem::path> sources_beneath(const std::filesystem::path& folder);

/// A name that a recipe may have, made of a script's or a program's.
std::string recipe_name_of(const std::string& text);

/// A word of a command as a template: its braces stand for themselves.
std::string as_template(const std::string& word);

}  // namespace sabath::drafts
