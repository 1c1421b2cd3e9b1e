#pragma once

#include <sabath/base/staged_file.hpp>

#include <cstdint>
#include <limits>
#include <map>

namespace sabath::fetch {

/// Which bytes of a file are there: a set of ranges.
class Coverage {
 public:
  static constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

  void add(base::ByteRange range);
  void clear() {
    ranges_.clear();
    bytes_ = 0;
  }
  std::uint64_t bytes() const { return bytes_; }
  /// The first byte at or after `from` that is not there.
  std::uint64_t first_missing(std::uint64_t from) const;
  /// The first byte at or after `from` that is there; endless when there is none.
  std::uint64_t first_present(std::uint64_t from) const;
  bool covers(base::ByteRange range) const { return first_missing(range.begin) >= range.end; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_{};  ///< begin to end; neither touch nor overlap
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath::fetch
