#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Wall time with nanoseconds, UTC.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Source of time, injected so that tests can move it. Thread safety: any thread.
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

/// For display: "450 ms", "3.2 s", "2 min 05 s", "1 h 12 min".
std::string format_duration(std::chrono::nanoseconds duration);
/// The same for seconds. A damaged record may hold any double: where 64 bits of nanoseconds do not
/// suffice the text is "1e+308 s".
std::string seconds_text(double seconds);
/// 100 years. Twice this, in nanoseconds, can be added to or subtracted from the current time
/// without overflow: 64 bits reach 292 years either way.
constexpr std::chrono::seconds longest_duration = std::chrono::days(36525);
/// Reads "7d", "12h", "30m", "45s"; "00:10:00" (h:m:s), and Slurm's "1-00:10:00". Returns nothing
/// above longest_duration.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace sabath::base
