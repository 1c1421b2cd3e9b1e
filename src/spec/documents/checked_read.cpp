#include "checked_read.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <filesystem>
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

std::vector<std::string> read_distinct(base::JsonReader reader, const TextCheck& check) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (base::JsonReader& item : reader.items()) {
    const std::string& text = texts.emplace_back(item.string());
    if (!item.is_string()) continue;
    if (text.empty()) item.problem("must not be empty");
    check_distinct(text, seen, item);
    if (check) check(text, item);
  }
  return texts;
}

std::vector<std::string> read_distinct_paths(base::JsonReader reader, bool may_be_folders) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for (base::JsonReader& item : reader.items()) {
    paths.push_back(item.relative_path(may_be_folders));
    if (item.is_string()) check_distinct(paths.back(), seen, item);
    if (may_be_folders && paths.back().ends_with('/') &&
        paths.back().find('*') != std::string::npos)
      item.problem("'" + paths.back() + "' is a pattern of folders",
                   "a pattern of files ends with '/*'");
    if (may_be_folders && paths.back().find("**") != std::string::npos)
      item.problem("'" + paths.back() + "' has '**'",
                   "'*' matches files of one folder; \"FOLDER/\" is all files beneath it");
  }
  return paths;
}

void check_name(const std::string& name, const base::JsonReader& reader) {
  if (base::is_safe_name(name)) return;
  reader.problem("'" + name + "' is not a name",
                 "a name has lower-case letters, digits, '.', '_' and '-', begins with a letter or "
                 "digit, and is at most 64 long");
}

std::string read_file_name(const std::string& origin,
                           const base::JsonReader& root,
                           const std::string& what) {
  std::string name = std::filesystem::path(origin).stem().string();
  if (!base::is_safe_name(name)) {
    root.problem("the file's name '" + name + "' is not a name of a " + what,
                 "lower-case letters, digits, '.', '_' and '-', a letter or digit first");
  }
  return name;
}

std::string read_line(base::JsonReader reader) {
  std::string text = reader.string();
  const auto is_control = [](unsigned char c) { return c < 0x20 && c != '\t'; };
  if (std::any_of(text.begin(), text.end(), is_control))
    reader.problem("must not contain line breaks or other control characters");
  return text;
}

void check_template(const std::string& text,
                    const KnownPlaceholders& known,
                    const base::JsonReader& reader) {
  for (const TemplateProblem& problem : template_problems(text, known))
    reader.problem(problem.problem, problem.hint);
}

void check_argument(const std::string& text, const base::JsonReader& reader) {
  if (text.find('\0') != std::string::npos) reader.problem("must not contain the character NUL");
}

}  // namespace sabath::spec
