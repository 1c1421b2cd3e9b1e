#pragma once

#include "placeholder.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <functional>
#include <string>
#include <vector>

// Reading what several documents have in common. All take a reader of a member that may be missing
// and then give a default.

namespace sabath::spec {

/// An integer of at least `least`; `otherwise` where the member is missing.
int read_count(base::JsonReader reader, int least, int otherwise);
/// Notes what is wrong with one of several texts.
using TextCheck = std::function<void(const std::string& text, const base::JsonReader& item)>;
/// Different strings, none empty, each of them checked.
std::vector<std::string> read_distinct(base::JsonReader reader, const TextCheck& check = {});
/// Different relative paths; that of a folder ends with '/' where there may be folders.
std::vector<std::string> read_distinct_paths(base::JsonReader reader, bool may_be_folders = false);
/// Names as keys, by base::is_safe_name; notes a problem for another.
void check_name(const std::string& name, const base::JsonReader& reader);
/// The name of what a document describes: its file's, without folder and extension. `what` is it,
/// such as "site", for the problem.
std::string read_file_name(const std::string& origin,
                           const base::JsonReader& root,
                           const std::string& what);
/// A text without line breaks and other control characters but the tab.
std::string read_line(base::JsonReader reader);
/// Notes what is wrong with a template.
void check_template(const std::string& text,
                    const KnownPlaceholders& known,
                    const base::JsonReader& reader);
/// A text that goes to a program: without NUL, which would cut it short unseen.
void check_argument(const std::string& text, const base::JsonReader& reader);

}  // namespace sabath::spec
