#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>

namespace sabath::base {

/// A file on its way into the cache: implemented by `cache`, written by `fetch` and by `exec`.
/// Bytes may arrive in any order; those of the contiguous prefix are hashed as they come, so that a
/// file that was written in order needs no second reading. One writer at a time.
class StagedFile {
 public:
  virtual ~StagedFile() = default;
  /// Announces the size: reserves the space (fallocate, never its emulation). Throws Error{storage}
  /// when there is none.
  virtual void reserve(std::uint64_t size_bytes) = 0;
  /// Writes `bytes` at `offset_bytes`. Throws Error{storage}.
  virtual void write_at(std::uint64_t offset_bytes, ByteView bytes) = 0;
  /// Bytes present without a gap from the beginning: where a single stream goes on.
  virtual std::uint64_t contiguous_bytes() const = 0;
  /// Forgets everything written and starts again from nothing.
  virtual void restart() = 0;
  /// For tools that write by themselves: the path; all is hashed again when it is published.
  virtual std::filesystem::path path() const = 0;
};

}  // namespace sabath::base
