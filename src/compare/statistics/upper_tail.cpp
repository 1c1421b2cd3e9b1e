#include "upper_tail.hpp"

#include <algorithm>
#include <functional>

namespace sabath::compare {
namespace {

constexpr std::uint64_t most_kept = 1U << 22U;

}  // namespace

UpperTail::UpperTail(std::uint64_t expected)
    : keep_(static_cast<std::size_t>(std::min(expected / 1000 + 1, most_kept))) {}

void UpperTail::keep(std::uint64_t number) {
  numbers_.push_back(number);
  if (numbers_.size() >= 2 * keep_) shrink();
}

void UpperTail::shrink() {
  const auto last_kept = numbers_.begin() + static_cast<std::ptrdiff_t>(keep_ - 1);
  std::nth_element(numbers_.begin(), last_kept, numbers_.end(), std::greater<>());
  floor_ = *last_kept;
  numbers_.resize(keep_);
}

std::uint64_t UpperTail::p999() {
  if (numbers_.size() < keep_) return 0;
  shrink();
  return floor_;
}

}  // namespace sabath::compare
