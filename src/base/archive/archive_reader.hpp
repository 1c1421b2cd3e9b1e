#pragma once

#include "text/utf8_names.hpp"

#include <sabath/base/bytes.hpp>
#include <sabath/base/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

namespace sabath::base {

/// One entry as the archive states it: nothing here is trusted yet.
struct StatedEntry {
  enum class Kind { file, folder, symbolic_link, hard_link, other };
  Kind kind = Kind::other;
  std::string path{};
  std::string link_target{};            ///< of both kinds of links
  std::optional<std::uint64_t> size{};  ///< where the header says it
  bool executable = false;
  unsigned mode = 0;  ///< all permissions, which only own archives get back
};

/// Reads tar (plain, gz, bz2, xz, zstd) and zip through libarchive, which only reads: what is
/// written, and where, is ours to decide. All failures are Error{integrity} that name the archive.
/// A tar must end with the mark of its end, and only zeros may follow; a zip file is held to its
/// directory.
class ArchiveReader {
 public:
  enum class Format { archive, zip };
  /// As `zip` nothing else is known, and the thread's locale is the caller's affair.
  explicit ArchiveReader(const std::filesystem::path& path, Format format = Format::archive);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// The next entry, or nothing at the end.
  std::optional<StatedEntry> next();
  /// The next bytes of the current entry's content, holes as zeros; empty at its end. Valid until
  /// the next call.
  ByteView read();
  /// Packed bytes that have been read so far.
  std::uint64_t consumed_bytes() const;

 private:
  struct TarBytes;
  void check_tar_end();
  [[noreturn]] void fail() const;
  [[noreturn]] void refuse(const std::string& cause) const;

  std::filesystem::path path_;
  std::optional<Utf8Names> names_{};
  std::unique_ptr<TarBytes> tar_{};  ///< where it is not a zip file; outlives `archive_`
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::vector<std::byte> buffer_;
  std::string current_{};
};

}  // namespace sabath::base
