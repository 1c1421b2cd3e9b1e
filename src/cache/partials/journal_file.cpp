#include "journal_file.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {

JournalFile::JournalFile(const base::Beneath& beneath,
                         std::filesystem::path path,
                         const std::string& text)
    : path_(std::move(path)) {
  beneath.write_atomically(path_, text, base::Durability::ordered_only, 0600);
  fd_ = beneath.open_file(path_, O_WRONLY | O_APPEND);
  if (!fd_) base::throw_errno(path_.string(), "cannot write", errno);
}

void JournalFile::append(const std::string& lines) {
  if (lines.empty()) return;
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  try {
    base::write_all(fd_.get(), base::as_bytes(lines), path_);
  } catch (const base::Error&) {
    if (end < 0 || ::ftruncate(fd_.get(), end) != 0)
      base::throw_errno(path_.string(), "cannot shorten", errno);
    throw;
  }
}

void JournalFile::replace(const std::string& text) {
  if (::ftruncate(fd_.get(), 0) != 0) base::throw_errno(path_.string(), "cannot shorten", errno);
  append(text);
}

void JournalFile::make_room(std::uint64_t bytes) const noexcept {
  ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
}

std::string as_field(std::string_view text) {
  if (text.empty()) return "-";
  std::string field;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%' && (c != '-' || text.size() > 1)) {
      field += c;
    } else {
      field += fmt::format("%{:02x}", byte);
    }
  }
  return field;
}

std::string_view next_field(std::string_view& line) {
  const auto blank = std::min(line.find(' '), line.size());
  const auto field = line.substr(0, blank);
  line.remove_prefix(std::min(blank + 1, line.size()));
  return field;
}

bool read_text(std::string_view& line, std::string& text) {
  const auto field = next_field(line);
  if (field.empty()) return false;
  if (field == "-") return true;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '%') {
      text += field[i];
      continue;
    }
    unsigned byte = 0;
    if (i + 2 >= field.size()) return false;
    const char* const digits = field.data() + i + 1;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return false;
    text += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

}  // namespace sabath::cache
