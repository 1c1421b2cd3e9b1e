#pragma once

#include <sabath/base/text/json_reader.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

// Reading what several documents have in common. All take a reader of a member that may be missing
// and then give a default.

namespace sabath::spec {

/// One of `words`; the first where the member is missing.
std::string read_word(base::JsonReader reader, const std::vector<std::string>& words);
/// An integer of at least `least`; `otherwise` where the member is missing.
int read_count(base::JsonReader reader, int least, int otherwise);
/// Strings of which none is empty and none stands twice.
std::vector<std::string> read_distinct(base::JsonReader reader);
/// Relative paths of which none stands twice.
std::vector<std::string> read_distinct_paths(base::JsonReader reader);
/// Relative paths of files that are to be made: each by its name.
std::vector<std::string> read_outputs(base::JsonReader reader);
/// Names as keys, by base::is_safe_name; notes a problem for another.
void check_name(const std::string& name, const base::JsonReader& reader);
/// Names of environment variables: a letter or '_', then letters, digits and '_'.
void check_variable_name(const std::string& name, const base::JsonReader& reader);
/// A text that goes to a program: without NUL, which would cut it short unseen.
void check_argument(const std::string& text, const base::JsonReader& reader);

}  // namespace sabath::spec
