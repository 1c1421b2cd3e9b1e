#include <sabath/planning/recent_trust.hpp>
#include <sabath/probe/host_probe.hpp>

#include <ctime>

namespace sabath::planning {

spec::TrustSeen trust_seen_now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return {probe::boot_id(),
          static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

bool is_recent(const std::optional<spec::TrustSeen>& seen, const spec::TrustSeen& now) {
  // Longer than it takes to start `exec`, shorter than a look at a large environment is worth.
  constexpr double moment_s = 10;
  if (!seen || seen->boot.empty() || seen->boot != now.boot) return false;
  const double age_s = now.uptime_s - seen->uptime_s;
  return age_s >= 0 && age_s < moment_s;
}

}  // namespace sabath::planning
