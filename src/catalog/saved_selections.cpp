#include "run_keys.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/saved_selections.hpp>

#include <algorithm>
#include <array>
#include <system_error>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;
namespace fs = std::filesystem;

constexpr std::uint64_t longest_selection = 64U << 10U;
constexpr std::array<std::string_view, 4> reserved{"last", "running", "best", "previous"};

fs::path folder_of(const fs::path& home) {
  return home / "selections";
}

bool mentions(std::string_view text, const std::string& word) {
  constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if (end == text.size() || of_names.find(text[end]) == of_names.npos) return true;
  }
  return false;
}

/// Whether `text` has `@name` in it, also by the selections that it names.
bool names_itself(std::string_view text,
                  const std::string& name,
                  std::map<std::string, std::string> saved) {
  if (mentions(text, "@" + name)) return true;
  for (const auto& [other, meaning] : std::map(saved)) {
    if (other == name || !mentions(text, "@" + other)) continue;
    saved.erase(other);
    if (names_itself(meaning, name, saved)) return true;
  }
  return false;
}

fs::path previous_file(const fs::path& home) {
  return home / "state" / "previous-run";
}

}  // namespace

std::optional<std::string> saved_selection(const fs::path& home, std::string_view name) {
  if (!base::is_safe_name(name)) return std::nullopt;
  const auto text = base::read_file_if_exists(folder_of(home) / name, longest_selection);
  if (!text) return std::nullopt;
  return std::string(base::trimmed(*text));
}

std::map<std::string, std::string> saved_selections(const fs::path& home) {
  std::map<std::string, std::string> found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(home), code)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(code)) continue;
    if (auto text = saved_selection(home, name)) found.emplace(name, std::move(*text));
  }
  return found;
}

std::optional<std::string> save_selection(const fs::path& home,
                                          const std::string& name,
                                          const std::string& text) {
  const std::string place = "--save " + base::printable(name) + ": ";
  if (!base::is_safe_name(name)) {
    throw Error(ErrorKind::usage,
                place + "is not a name",
                "small letters, digits, '.', '_' and '-', at most 64, the first a letter or digit");
  }
  if (std::ranges::find(reserved, name) != reserved.end())
    throw Error(ErrorKind::usage, place + "@" + name + " has a meaning of its own");
  if (text.size() >= longest_selection)
    throw Error(ErrorKind::usage, place + "the selection is longer than 64 KiB");
  auto before = saved_selection(home, name);
  if (names_itself(text, name, saved_selections(home)))
    throw Error(ErrorKind::usage,
                place + "the selection names itself",
                before ? "@" + name + " stands for: " + base::printable(*before) : "");
  base::make_directories(folder_of(home));
  base::write_file_atomically(folder_of(home) / name, text + "\n");
  return before;
}

void forget_selection(const fs::path& home, const std::string& name) {
  std::error_code code;
  if (base::is_safe_name(name) && fs::remove(folder_of(home) / name, code)) return;
  if (code) throw Error(ErrorKind::storage, "--forget " + name + ": " + code.message());
  std::vector<std::string> names;
  for (const auto& saved : saved_selections(home))
    names.push_back(saved.first);
  throw Error(ErrorKind::not_found,
              "--forget " + base::printable(name) + ": no selection has that name",
              base::did_you_mean(name, names, "'sabath list selections' shows what there is"));
}

void keep_previous(const fs::path& home, const std::string& run_id) {
  if (previous_run(home) == run_id) return;
  base::make_directories(previous_file(home).parent_path());
  base::write_file_atomically(previous_file(home), run_id + "\n", base::Durability::ordered_only);
}

std::string previous_run(const fs::path& home) {
  const auto text = base::read_file_if_exists(previous_file(home), longest_selection);
  return text ? std::string(base::trimmed(*text)) : std::string();
}

SelectionNames names_in(Database& database) {
  return {[&database](std::string_view name) { return has_parameter(database, name); },
          [&database] { return saved_selections(database.path().parent_path()); }};
}

}  // namespace sabath::catalog
