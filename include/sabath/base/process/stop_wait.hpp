#pragma once

#include <chrono>
#include <stop_token>

namespace sabath::base {

/// Waits. Returns false at once where a stop is requested meanwhile.
bool wait_unless_stopped(std::chrono::nanoseconds duration, const std::stop_token& stop);

}  // namespace sabath::base
