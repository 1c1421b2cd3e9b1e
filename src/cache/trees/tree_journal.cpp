#include "tree_journal.hpp"

#include "partials/journal_fields.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "sabath tree journal 1";
constexpr std::uint64_t longest_journal_bytes = std::uint64_t{4} << 30U;

std::string line_of(const std::string& path, const FinishedFile& file) {
  return "file " + as_field(path) + " " + std::to_string(file.size_bytes) + " " + file.digest.hex +
         " " + as_field(file.url) + "\n";
}

std::string lines_of(const FinishedFiles& files) {
  std::string text;
  for (const auto& [path, file] : files)
    text += line_of(path, file);
  return text;
}

bool take_line(std::string_view line, FinishedFiles& files) {
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

FinishedFiles parse(std::string_view text) {
  FinishedFiles files;
  bool is_first = true;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (is_first ? line != first_line : !take_line(line, files)) return {};
    is_first = false;
  }
  return files;
}

}  // namespace

TreeJournal::TreeJournal(const base::Beneath& beneath, fs::path path, const FinishedFiles& files)
    : path_(std::move(path)) {
  const std::string text = std::string(first_line) + "\n" + lines_of(files);
  beneath.write_atomically(path_, text, base::Durability::ordered_only, 0600);
  fd_ = beneath.open_file(path_, O_WRONLY | O_APPEND);
  if (!fd_) base::throw_errno(path_.string(), "cannot write", errno);
}

void TreeJournal::note(const FinishedFiles& files) {
  append_lines(fd_.get(), lines_of(files), path_);
}

FinishedFiles read_tree_journal(const fs::path& path) {
  const auto text = base::read_file_if_exists(path, longest_journal_bytes);
  return text ? parse(*text) : FinishedFiles{};
}

}  // namespace sabath::cache
