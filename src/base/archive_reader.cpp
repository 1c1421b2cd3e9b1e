#include "archive_reader.hpp"

#include <sabath/base/text_table.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <array>

#include <sys/stat.h>

namespace sabath::base {
namespace {

constexpr std::size_t buffer_bytes = 1U << 18U;

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

StatedEntry::Kind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return StatedEntry::Kind::hard_link;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return StatedEntry::Kind::file;
    case AE_IFDIR:
      return StatedEntry::Kind::folder;
    case AE_IFLNK:
      return StatedEntry::Kind::symbolic_link;
    default:
      return StatedEntry::Kind::other;
  }
}

}  // namespace

ArchiveReader::ArchiveReader(const std::filesystem::path& path, Format format)
    : path_(path), archive_(archive_read_new(), archive_read_free), buffer_(buffer_bytes) {
  archive* handle = archive_.get();
  if (format == Format::zip) {
    // Without its directory, which comes last, a zip file that is cut short would look whole.
    archive_read_support_format_zip_seekable(handle);
    if (archive_read_open_filename(handle, path.c_str(), buffer_bytes) != ARCHIVE_OK) fail();
    return;
  }
  names_.emplace();
  // A filter that libarchive could only run as an outside program answers ARCHIVE_WARN; it is left
  // on, because the program is then named by libarchive and not by the archive.
  archive_read_support_filter_gzip(handle);
  archive_read_support_filter_bzip2(handle);
  archive_read_support_filter_xz(handle);
  archive_read_support_filter_zstd(handle);
  if (format == Format::single_file) {
    archive_read_support_format_raw(handle);
  } else {
    archive_read_support_format_tar(handle);
    archive_read_support_format_zip(handle);
  }
  if (archive_read_open_filename(handle, path.c_str(), buffer_bytes) != ARCHIVE_OK) fail();
}

ArchiveReader::~ArchiveReader() = default;

std::optional<StatedEntry> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  int code = ARCHIVE_RETRY;
  for (int attempt = 0; attempt < 4 && code == ARCHIVE_RETRY; ++attempt) {
    code = archive_read_next_header(archive_.get(), &entry);
  }
  if (code == ARCHIVE_EOF) return std::nullopt;
  // A warning means that something we do not use (an owner, a flag) could not be understood.
  if (code != ARCHIVE_OK && code != ARCHIVE_WARN) fail();
  StatedEntry stated;
  stated.kind = kind_of(entry);
  stated.path = text_or_empty(archive_entry_pathname(entry));
  stated.link_target =
      text_or_empty(stated.kind == StatedEntry::Kind::hard_link ? archive_entry_hardlink(entry)
                                                                : archive_entry_symlink(entry));
  if (archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) >= 0) {
    stated.size = static_cast<std::uint64_t>(archive_entry_size(entry));
  }
  stated.executable = (archive_entry_perm(entry) & S_IXUSR) != 0;
  current_ = stated.path;
  return stated;
}

ByteView ArchiveReader::read() {
  const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
  if (got == ARCHIVE_RETRY || got == ARCHIVE_WARN) return read();
  if (got < 0) fail();
  return ByteView(buffer_).first(static_cast<std::size_t>(got));
}

std::string ArchiveReader::compression() const {
  return text_or_empty(archive_filter_name(archive_.get(), 0));
}

std::uint64_t ArchiveReader::consumed_bytes() const {
  const auto bytes = archive_filter_bytes(archive_.get(), -1);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

void ArchiveReader::fail() const {
  const std::string cause = text_or_empty(archive_error_string(archive_.get()));
  const std::string place = current_.empty() ? path_.string() : path_.string() + ":" + current_;
  throw Error(
      ErrorKind::integrity,
      printable(place + ": cannot be unpacked: " + (cause.empty() ? "it is damaged" : cause)));
}

}  // namespace sabath::base
