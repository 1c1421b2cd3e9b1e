#pragma once

#include <sabath/base/partial_file.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace sabath::cache {

/// The written ranges of a file, each with its source.
class Extents {
 public:
  /// Replaces what the range had before.
  void add(base::ByteRange range, unsigned source);
  void remove(base::ByteRange range);
  void clear() { *this = {}; }
  /// Bytes from the beginning without a gap.
  std::uint64_t prefix() const noexcept { return prefix_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// One past the last byte.
  std::uint64_t end() const { return stretches_.empty() ? 0 : stretches_.rbegin()->second.end; }
  /// Says whether any byte of the range is written.
  bool touches(base::ByteRange range) const;
  /// Returns the ranges, sorted; adjacent ranges of one source are one.
  std::vector<base::SourcedRange> list() const;

 private:
  struct Stretch {
    std::uint64_t end = 0;
    unsigned source = 0;
  };

  std::map<std::uint64_t, Stretch>
      stretches_{};  ///< by begin; apart from each other or of other sources
  std::uint64_t prefix_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath::cache
