#include "tree_journal.hpp"

#include "partials/journal_file.hpp"

#include <sabath/base/file.hpp>

#include <fmt/format.h>

#include <string_view>

namespace sabath::cache {
namespace {

constexpr std::string_view tree_journal_first_line = "sabath tree journal 1";
constexpr std::uint64_t longest_tree_journal_bytes = std::uint64_t{4} << 30U;

bool take_finished_line(std::string_view line, FinishedFiles& files) {
  std::string path;
  FinishedFile file;
  if (next_field(line) != "file" || !read_text(line, path) || !read_number(line, file.size_bytes)) {
    return false;
  }
  const auto digest = base::parse_digest(base::DigestAlgorithm::sha256, next_field(line));
  if (!digest || !read_text(line, file.url) || !line.empty()) return false;
  file.digest = *digest;
  files[path] = file;
  return true;
}

}  // namespace

std::string finished_lines(const FinishedFiles& files) {
  std::string text;
  for (const auto& [path, file] : files)
    text += fmt::format(
        "file {} {} {} {}\n", as_field(path), file.size_bytes, file.digest.hex, as_field(file.url));
  return text;
}

std::string tree_journal_text(const FinishedFiles& files) {
  return std::string(tree_journal_first_line) + "\n" + finished_lines(files);
}

FinishedFiles read_tree_journal(const std::filesystem::path& path) {
  FinishedFiles files;
  const auto text = base::read_file_if_exists(path, longest_tree_journal_bytes);
  const auto take = [&files](std::string_view line) { return take_finished_line(line, files); };
  if (!text || !read_lines(*text, tree_journal_first_line, take)) return {};
  return files;
}

}  // namespace sabath::cache
