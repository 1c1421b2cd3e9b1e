#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Wall time with nanoseconds, UTC.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Injected wherever time matters, so that tests move it. Threads may share one.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() const = 0;
  virtual SteadyTime steady() const = 0;
  virtual void sleep_for(std::chrono::nanoseconds duration) = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime now() const override;
  SteadyTime steady() const override;
  void sleep_for(std::chrono::nanoseconds duration) override;
};

/// RFC 3339 in UTC with milliseconds: "2026-11-20T10:32:05.123Z".
std::string format_rfc3339(WallTime time);
/// Accepts fractions of any length and numeric offsets.
std::optional<WallTime> parse_rfc3339(std::string_view text);

/// "450 ms", "3.2 s", "2 min 05 s", "1 h 12 min": for people.
std::string format_duration(std::chrono::nanoseconds duration);
/// 100 years. What nobody says longer than this can be counted in nanoseconds, twice over, and be
/// added to the time of day or taken from it: 64 bits reach 292 years either way.
constexpr std::chrono::seconds longest_duration = std::chrono::days(36525);
/// "7d", "12h", "30m", "45s"; "00:10:00" (h:m:s) as in resources, and Slurm's "1-00:10:00".
/// Nothing above longest_duration.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace sabath::base
