#include "recent_trust.hpp"

#include <sabath/probe/host_probe.hpp>

#include <ctime>

namespace sabath::app {
namespace {

/// Longer than it takes to start `exec`, shorter than a look at a large environment is worth.
constexpr double moment_s = 10;

double uptime_s() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

spec::TrustSeen trust_seen_now() {
  return {probe::boot_id(), uptime_s()};
}

bool is_recent(const std::optional<spec::TrustSeen>& seen) {
  if (!seen || seen->boot.empty() || seen->boot != probe::boot_id()) return false;
  const double age_s = uptime_s() - seen->uptime_s;
  return age_s >= 0 && age_s < moment_s;
}

}  // namespace sabath::app
