#include "checked_read.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace sabath::spec {
namespace {

void check_distinct(const std::string& text,
                    std::set<std::string>& seen,
                    const base::JsonReader& reader) {
  if (!seen.insert(text).second) reader.problem("'" + text + "' stands twice");
}

}  // namespace

std::string read_word(base::JsonReader reader, const std::vector<std::string>& words) {
  return reader.exists() ? reader.one_of(words) : words.front();
}

int read_count(base::JsonReader reader, int least, int otherwise) {
  if (!reader.exists()) return otherwise;
  const std::int64_t count = reader.integer();
  if (!reader.is_integer()) return otherwise;
  if (count < least || count > std::numeric_limits<int>::max()) {
    reader.problem(std::to_string(count) + " is out of range", "at least " + std::to_string(least));
    return otherwise;
  }
  return static_cast<int>(count);
}

std::vector<std::string> read_distinct(base::JsonReader reader) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (base::JsonReader& item : reader.items()) {
    const std::string& text = texts.emplace_back(item.string());
    if (!item.is_string()) continue;
    if (text.empty()) item.problem("must not be empty");
    check_distinct(text, seen, item);
  }
  return texts;
}

std::vector<std::string> read_distinct_paths(base::JsonReader reader) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for (base::JsonReader& item : reader.items()) {
    paths.push_back(item.relative_path());
    if (item.is_string()) check_distinct(paths.back(), seen, item);
  }
  return paths;
}

std::vector<std::string> read_outputs(base::JsonReader reader) {
  if (!reader.is_array()) return read_distinct_paths(reader);
  for (base::JsonReader& item : reader.items()) {
    if (!item.is_string() || item.string().find('*') == std::string::npos) continue;
    item.problem("'" + item.string() + "' is a pattern, and outputs are files",
                 "name each file; of many files, or of a folder, make one archive");
  }
  return read_distinct_paths(reader);
}

void check_name(const std::string& name, const base::JsonReader& reader) {
  if (base::is_safe_name(name)) return;
  reader.problem("'" + name + "' is not a name",
                 "a name has lower-case letters, digits, '.', '_' and '-', begins with a letter or "
                 "digit, and is at most 64 long");
}

void check_variable_name(const std::string& name, const base::JsonReader& reader) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto is_rest = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_rest)) {
    return;
  }
  reader.problem("'" + name + "' is not the name of a variable",
                 "letters, digits and '_', not a digit first");
}

void check_argument(const std::string& text, const base::JsonReader& reader) {
  if (text.find('\0') != std::string::npos) reader.problem("must not contain the character NUL");
}

}  // namespace sabath::spec
