#pragma once

#include "utf8_names.hpp"

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
};

/// Reads tar (plain, gz, bz2, xz, zstd) and zip through libarchive, which only reads: what is
/// written, and where, is ours to decide. All failures are Error{integrity} that name the archive.
class ArchiveReader {
 public:
  enum class Format { archive, single_file, zip };
  /// As `single_file` what the filters give is the content of one entry. As `zip` nothing else is
  /// known, and the thread's locale is the caller's affair.
  explicit ArchiveReader(const std::filesystem::path& path, Format format = Format::archive);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// The next entry, or nothing at the end.
  std::optional<StatedEntry> next();
  /// The next bytes of the current entry's content, holes as zeros; empty at its end. Valid until
  /// the next call.
  ByteView read();
  /// The outermost compression, once `next` was called: "gzip", "bzip2", "xz", "zstd" or "none".
  std::string compression() const;
  /// Packed bytes that have been read so far.
  std::uint64_t consumed_bytes() const;

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::optional<Utf8Names> names_{};
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::vector<std::byte> buffer_;
  std::string current_{};
};

}  // namespace sabath::base
