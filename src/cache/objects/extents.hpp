#pragma once

#include <sabath/base/staged_file.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace sabath::cache {

/// Which bytes of a file have been written, and from which source.
class Extents {
 public:
  /// What was there in this range before is replaced.
  void add(base::ByteRange range, unsigned source);
  void remove(base::ByteRange range);
  void clear();
  /// How many there are from the beginning without a gap.
  std::uint64_t prefix() const noexcept { return prefix_; }
  /// How many there are in all.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// One behind the last.
  std::uint64_t end() const;
  /// Is any byte of the range there?
  bool touches(base::ByteRange range) const;
  /// Sorted; neighbours of the same source are one.
  std::vector<base::SourcedRange> list() const;

 private:
  struct Stretch {
    std::uint64_t end = 0;
    unsigned source = 0;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;

  Stretches stretches_{};  ///< by begin; apart from each other or of other sources
  std::uint64_t prefix_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath::cache
