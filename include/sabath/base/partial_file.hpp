#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Bytes [begin, end) of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

/// Where bytes of a partial file come from, and the version of the file that was there.
struct ByteSource {
  std::string url{};  ///< fit to be kept: without user, password and query
  std::string etag{};
  std::string last_modified{};

  bool operator==(const ByteSource&) const = default;
};

/// A part of a partial file and the number of the source that gave it.
struct SourcedRange {
  ByteRange range{};
  unsigned source = 0;

  bool operator==(const SourcedRange&) const = default;
};

enum class DigestMatch {
  unknown,  ///< no digest is expected
  right,
  wrong,
};

/// A file on its way into the cache: implemented by `cache`, written by `fetch` and by `exec`.
/// Bytes may arrive in any order; those of the contiguous prefix are hashed as they come, in the
/// shadow of the transfer. One writer at a time: no member may be called by two threads at once.
/// Every member that changes something throws Error{storage} where the disk refuses.
class PartialFile {
 public:
  virtual ~PartialFile() = default;
  /// Announces the size: reserves the space (fallocate, never its emulation). Throws Error{storage}
  /// when there is none. A partial that is longer than this, or was begun for another size, is
  /// dropped. A file that was announced is complete with just so many bytes.
  virtual void reserve(std::uint64_t size_bytes) = 0;
  /// Bytes are noted as arrived, and dropped, by pieces of this size (the last may be shorter): a
  /// power of two, known once the size is.
  virtual std::uint64_t piece_bytes() const = 0;
  /// The number under which bytes of `source` are written; equal sources get equal numbers. Drops
  /// bytes of another version of the same URL.
  virtual unsigned number_of(const ByteSource& source) = 0;
  /// By number; those of an earlier attempt, too.
  virtual const std::vector<ByteSource>& sources() const = 0;
  /// Writes `bytes` at `offset_bytes`, over what was there. Bytes that come before any source has a
  /// number belong to an unknown source. Small writes may be gathered: this call or a later one
  /// reports what the disk refuses, which is not present then. Throws Error{integrity} beyond the
  /// announced size, Error{storage}.
  virtual void write_at(std::uint64_t offset_bytes, ByteView bytes, unsigned source = 0) = 0;
  /// Bytes present without a gap from the beginning: where a single stream continues.
  virtual std::uint64_t contiguous_bytes() const = 0;
  virtual std::uint64_t present_bytes() const = 0;
  /// What is there, sorted, with where it came from.
  virtual std::vector<SourcedRange> present() const = 0;
  /// Forgets the bytes of every piece that `range` touches.
  virtual void drop(ByteRange range) = 0;
  /// Forgets everything written, the size and the sources, and starts again from nothing; also
  /// what a tool has written, while the file is borrowed.
  virtual void restart() = 0;
  /// Whether a complete file has the expected digests; waits for the hashing. `unknown` while the
  /// file is incomplete or borrowed.
  virtual DigestMatch matches() = 0;
  /// The digests of a complete file, for messages; none where they are not known.
  virtual std::vector<Digest> digests() { return {}; }
  /// Returns a path for a tool that writes the file by itself. Its folder belongs to the borrower,
  /// also for control files, and holds only what the same borrower left in an earlier attempt. The
  /// file at the path is published, unless a later call of `reserve`, `number_of`, `write_at`,
  /// `drop` or `restart` takes it back. A borrowed file is hashed when it is published.
  virtual std::filesystem::path lend(std::string_view borrower) = 0;
};

}  // namespace sabath::base
