#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sabath::compare {

/// The 99.9th percentile of a stream of whole numbers whose length is known beforehand: only the
/// largest thousandth is kept. Exact (nearest rank) up to four thousand million numbers; beyond
/// that memory stays bounded and the answer is a higher percentile, never a lower one.
class UpperTail {
 public:
  /// `expected` numbers will come; zeros need not be added.
  explicit UpperTail(std::uint64_t expected);
  void add(std::uint64_t number, std::uint64_t times = 1) {
    for (times = std::min<std::uint64_t>(times, keep_); times > 0 && number > floor_; --times)
      keep(number);
  }
  /// The smallest number that at least 99.9 % of all do not exceed.
  std::uint64_t p999();

 private:
  void keep(std::uint64_t number);
  void shrink();

  std::size_t keep_;
  std::uint64_t floor_ = 0;  ///< numbers up to here can not matter any more
  std::vector<std::uint64_t> numbers_{};
};

}  // namespace sabath::compare
