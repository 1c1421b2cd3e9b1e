#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <chrono>
#include <random>

namespace sabath::fetch {

/// How long to wait after `failures` failures in a row: uniform in [floor, floor + backoff], where
/// backoff doubles from policy.base up to policy.cap. The jitter keeps many ranks that failed
/// together from coming back together.
std::chrono::milliseconds backoff(const RetryPolicy& policy,
                                  int failures,
                                  std::chrono::milliseconds floor,
                                  std::minstd_rand& random);

}  // namespace sabath::fetch
