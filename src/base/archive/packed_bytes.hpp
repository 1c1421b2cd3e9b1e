#pragma once

#include <sabath/base/bytes.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace sabath::base {

/// What a compressed file holds, or the bytes of one that is not compressed, from the begin to the
/// end. The checksums of the compression are checked, and nothing may follow its end: where it
/// does, and for a damaged file, `read` throws Error{integrity} that names the file.
class PackedBytes {
 public:
  /// gzip is read by zlib, because libarchive does not check its checksum; bzip2, xz, zstd and what
  /// is not compressed by libarchive.
  static std::unique_ptr<PackedBytes> open(const std::filesystem::path& path);
  virtual ~PackedBytes() = default;

  /// The next bytes, in blocks of one size except for the last; empty at the end. Valid until the
  /// next call.
  virtual ByteView read() = 0;
  /// "gzip", "bzip2", "xz", "zstd" or "none".
  virtual std::string compression() const = 0;
  /// Bytes of the file that have been read so far.
  virtual std::uint64_t consumed_bytes() const = 0;
};

}  // namespace sabath::base
