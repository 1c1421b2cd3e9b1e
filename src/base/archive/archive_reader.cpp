#include "archive_reader.hpp"

#include "packed_bytes.hpp"
#include "zip_directory.hpp"

#include <sabath/base/text/text_table.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <string_view>

#include <sys/stat.h>

namespace sabath::base {
namespace {

constexpr std::size_t buffer_bytes = 1U << 18U;
constexpr std::uint64_t most_zeros_at_end = 256U << 20U;

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

/// A tar that ends with a zip file as its last entry does not end with that file's end record.
bool is_zip(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  const std::string_view mark(begin.data(), begin.size());
  return mark == "PK\x03\x04" || mark == "PK\x05\x06" || has_zip_end(path);
}

}  // namespace

/// What libarchive asks for the bytes of a tar. What `read` throws must not pass through it.
struct ArchiveReader::TarBytes {
  explicit TarBytes(const std::filesystem::path& path) : packed(PackedBytes::open(path)) {}

  static la_ssize_t next_block(archive* handle, void* self, const void** block) {
    auto& bytes = *static_cast<TarBytes*>(self);
    try {
      bytes.before += bytes.block.size();
      bytes.block = bytes.packed->read();
      *block = bytes.block.data();
      return static_cast<la_ssize_t>(bytes.block.size());
    } catch (...) {
      bytes.failure = std::current_exception();
      bytes.block = {};
      archive_set_error(handle, EIO, "it cannot be read");
      return ARCHIVE_FATAL;
    }
  }

  std::unique_ptr<PackedBytes> packed;
  ByteView block{};
  std::uint64_t before = 0;  ///< bytes before `block`
  std::exception_ptr failure{};
};

ArchiveReader::ArchiveReader(const std::filesystem::path& path, Format format)
    : path_(path), archive_(archive_read_new(), archive_read_free), buffer_(buffer_bytes) {
  archive* handle = archive_.get();
  if (format == Format::archive) names_.emplace();
  if (format == Format::zip || is_zip(path)) {
    if (format == Format::archive && check_zip_directory(path) == 0) {
      archive_read_support_format_zip_streamable(handle);  // the seekable one knows no empty file
    }
    // Without its directory, which comes last, a zip file that is cut short would look whole.
    archive_read_support_format_zip_seekable(handle);
    if (archive_read_open_filename(handle, path.c_str(), buffer_bytes) != ARCHIVE_OK) fail();
    return;
  }
  tar_ = std::make_unique<TarBytes>(path);
  archive_read_support_format_tar(handle);
  if (archive_read_open(handle, tar_.get(), nullptr, TarBytes::next_block, nullptr) != ARCHIVE_OK) {
    fail();
  }
}

ArchiveReader::~ArchiveReader() = default;

std::optional<StatedEntry> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  // ARCHIVE_RETRY means that a damaged header was passed over: its entry would be lost.
  const int code = archive_read_next_header(archive_.get(), &entry);
  if (code == ARCHIVE_EOF) {
    if (tar_) check_tar_end();
    return std::nullopt;
  }
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
  stated.mode = static_cast<unsigned>(archive_entry_perm(entry)) & 0777U;
  current_ = stated.path;
  return stated;
}

ByteView ArchiveReader::read() {
  const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
  if (got < 0) fail();
  return ByteView(buffer_).first(static_cast<std::size_t>(got));
}

/// libarchive takes the end of the file for the end of the archive, and ends at zeros whatever
/// follows.
void ArchiveReader::check_tar_end() {
  if (tar_->failure) std::rethrow_exception(tar_->failure);
  current_.clear();
  const auto end = archive_filter_bytes(archive_.get(), 0);
  const auto mark_begin = archive_read_header_position(archive_.get());
  constexpr la_int64_t mark_bytes = 512;
  if (end - mark_begin < mark_bytes) refuse("it ends without the mark of its end");
  const std::uint64_t in_block = static_cast<std::uint64_t>(end) - tar_->before;
  ByteView rest = tar_->block.subspan(std::min<std::size_t>(in_block, tar_->block.size()));
  std::uint64_t zeros = 0;
  do {
    if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; })) {
      refuse("other bytes follow the mark of its end");
    }
    zeros += rest.size();
    if (zeros > most_zeros_at_end) refuse("too many zeros follow the mark of its end");
    rest = tar_->packed->read();  // to the end, where the checksums of the compression are
  } while (!rest.empty());
}

std::uint64_t ArchiveReader::consumed_bytes() const {
  if (tar_) return tar_->packed->consumed_bytes();
  const auto bytes = archive_filter_bytes(archive_.get(), -1);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

void ArchiveReader::fail() const {
  if (tar_ && tar_->failure) std::rethrow_exception(tar_->failure);
  const std::string cause = text_or_empty(archive_error_string(archive_.get()));
  refuse(cause.empty() ? "it is damaged" : cause);
}

void ArchiveReader::refuse(const std::string& cause) const {
  const std::string place = current_.empty() ? path_.string() : path_.string() + ":" + current_;
  throw Error(ErrorKind::integrity, printable(place + ": cannot be unpacked: " + cause));
}

}  // namespace sabath::base
