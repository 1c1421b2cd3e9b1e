#include "changes_text.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/record_scope.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

constexpr std::size_t most_words = 30;  ///< of an environment, a line each
constexpr std::size_t most_files = 20;
constexpr std::size_t most_diff_lines = 60;  ///< of all files

std::string environment_text(const spec::Comparison& comparison) {
  std::string text;
  const std::size_t all = comparison.environment.size();
  for (std::size_t i = 0; i < std::min(all, most_words); ++i)
    text += "  " + base::printable(comparison.environment[i]) + "\n";
  if (all > most_words)
    text += fmt::format("  ... and {} more (--json has them all)\n", all - most_words);
  return text.empty() ? text : "environment, from A to B:\n" + text + "\n";
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The diff's lines behind four blanks, as many as there is room for.
std::string diff_text(const std::string& diff, std::size_t& room) {
  std::string text;
  std::size_t at = 0;
  for (; at < diff.size() && room > 0; --room) {
    const std::size_t end = std::min(diff.find('\n', at), diff.size());
    text += "    " + base::printable(diff.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  if (at < diff.size())
    text += fmt::format("    ... and {} more lines (--json has them)\n", lines_in(diff.substr(at)));
  return text;
}

std::string code_text(const spec::Comparison& comparison) {
  std::string text;
  std::size_t room = most_diff_lines;
  for (std::size_t i = 0; i < std::min(comparison.code.size(), most_files); ++i) {
    const spec::CodeDifference& file = comparison.code[i];
    text += "  " + base::printable(code_title(file)) + "\n";
    if (room > 0) text += diff_text(file.diff, room);
  }
  if (comparison.code.size() > most_files) {
    text += fmt::format("  ... and {} more files (--json has them)\n",
                        comparison.code.size() - most_files);
  }
  if (!comparison.code_note.empty())
    text += "  note: " + base::printable(comparison.code_note) + "\n";
  return text.empty() ? text : "code, from A to B:\n" + text + "\n";
}

}  // namespace

bool is_told_in_words(const spec::Comparison& comparison, const spec::FacetDifference& difference) {
  if (difference.facet == "environment") return !comparison.environment.empty();
  // Files that lie elsewhere are not among those of the recipe's folder.
  const bool is_file =
      spec::is_code_elsewhere(difference.item) || difference.item.starts_with("file ");
  const bool is_code = (difference.facet == "code" && !is_file) ||
                       (difference.facet == "recipe" && difference.item == "definition");
  return is_code && !comparison.code.empty();
}

std::string code_title(const spec::CodeDifference& difference) {
  std::string text = difference.path + ": " + difference.change;
  const auto add = [&](std::uint64_t lines, const char* what) {
    if (lines > 0) text += fmt::format(", {} line{} {}", lines, lines == 1 ? "" : "s", what);
  };
  add(difference.added, "added");
  add(difference.removed, "removed");
  return difference.note.empty() ? text : text + " (" + difference.note + ")";
}

std::string changes_text(const spec::Comparison& comparison) {
  return environment_text(comparison) + code_text(comparison);
}

}  // namespace sabath::report
