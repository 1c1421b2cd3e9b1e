#pragma once

#include <cstdint>
#include <map>

namespace sabath::cache {

/// Which bytes of a file have been written.
class Extents {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  void clear() { extents_.clear(); }
  /// How many there are from the beginning without a gap.
  std::uint64_t prefix() const;
  /// One behind the last.
  std::uint64_t end() const;

 private:
  std::map<std::uint64_t, std::uint64_t> extents_;  ///< begin -> end; apart from each other
};

}  // namespace sabath::cache
