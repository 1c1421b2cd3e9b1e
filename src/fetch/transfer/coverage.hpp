#pragma once

#include <sabath/base/partial_file.hpp>

#include <cstdint>
#include <limits>
#include <map>

namespace sabath::fetch {

/// Set of ranges: the present bytes of a file.
class Coverage {
 public:
  static constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

  void add(base::ByteRange range);
  void clear() {
    ranges_.clear();
    bytes_ = 0;
  }
  std::uint64_t bytes() const { return bytes_; }
  /// The most bytes that were ever present.
  std::uint64_t most_bytes() const { return most_bytes_; }
  /// Returns the first missing byte at or after `from`.
  std::uint64_t first_missing(std::uint64_t from) const;
  /// Returns the first present byte at or after `from`; endless without one.
  std::uint64_t first_present(std::uint64_t from) const;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_{};  ///< begin to end; neither touch nor overlap
  std::uint64_t bytes_ = 0;
  std::uint64_t most_bytes_ = 0;
};

}  // namespace sabath::fetch
