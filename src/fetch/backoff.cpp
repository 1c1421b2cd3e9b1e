#include "backoff.hpp"

#include <algorithm>

namespace sabath::fetch {

std::chrono::milliseconds backoff(const RetryPolicy& policy,
                                  int failures,
                                  std::chrono::milliseconds floor,
                                  std::minstd_rand& random) {
  auto width = policy.base;
  for (int i = 1; i < failures && width < policy.cap; ++i)
    width *= 2;
  width = std::min(width, policy.cap);
  using Count = std::chrono::milliseconds::rep;
  std::uniform_int_distribution<Count> jitter(0, std::max<Count>(width.count(), 0));
  return floor + std::chrono::milliseconds(jitter(random));
}

}  // namespace sabath::fetch
