#include "support/fake_clock.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using namespace sabath::base;
using namespace std::chrono_literals;
using std::chrono::sys_days;

namespace {

WallTime at(int year, unsigned month, unsigned day, std::chrono::nanoseconds since_midnight = 0ns) {
  return WallTime(
             sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day))) +
         since_midnight;
}

}  // namespace

TEST_CASE("clock: times are written as RFC 3339 in UTC with milliseconds") {
  CHECK(format_rfc3339(at(2026, 11, 20, 10h + 32min + 5s + 123'999us)) ==
        "2026-11-20T10:32:05.123Z");
  CHECK(format_rfc3339(at(1970, 1, 1)) == "1970-01-01T00:00:00.000Z");
  CHECK(format_rfc3339(at(1969, 12, 31, 23h + 59min + 59s + 500ms)) == "1969-12-31T23:59:59.500Z");
}

TEST_CASE("clock: RFC 3339 is read with any fraction and any offset") {
  const WallTime expected = at(2026, 11, 20, 10h + 32min + 5s);
  CHECK(parse_rfc3339("2026-11-20T10:32:05Z") == expected);
  CHECK(parse_rfc3339("2026-11-20t10:32:05z") == expected);
  CHECK(parse_rfc3339("2026-11-20 10:32:05Z") == expected);
  CHECK(parse_rfc3339("2026-11-20T12:02:05+01:30") == expected);
  CHECK(parse_rfc3339("2026-11-19T22:32:05-12:00") == expected);
  CHECK(parse_rfc3339("2026-11-20T10:32:05.1Z") == expected + 100ms);
  CHECK(parse_rfc3339("2026-11-20T10:32:05.123456789012Z") == expected + 123456789ns);
  CHECK(parse_rfc3339("2024-02-29T00:00:00Z") == at(2024, 2, 29));
}

TEST_CASE("clock: what is written is read back") {
  const WallTime time = at(2026, 11, 20, 10h + 32min + 5s + 123ms);
  CHECK(parse_rfc3339(format_rfc3339(time)) == time);
}

TEST_CASE("clock: what is no time is refused") {
  const std::string text = GENERATE("",
                                    "2026-11-20",
                                    "2026-11-20T10:32:05",
                                    "2026-11-20T10:32Z",
                                    "2026-13-20T10:32:05Z",
                                    "2026-02-29T10:32:05Z",
                                    "2026-11-20T24:00:00Z",
                                    "2026-11-20T10:60:05Z",
                                    "2026-11-20T10:32:61Z",
                                    "2026-11-20T10:32:05.Z",
                                    "2026-11-20T10:32:05Zx",
                                    "2026-11-20T10:32:05+01",
                                    "2026-11-20T10:32:05+24:00",
                                    "2026-11-20T10:32:05+01:60",
                                    "-026-11-20T10:32:05Z",
                                    "2026-1-020T10:32:05Z",
                                    "2026-01-01T-0:-0:00Z",
                                    "2026-01-01T10:00:00+-0:00",
                                    "yesterday");
  INFO(text);
  CHECK_FALSE(parse_rfc3339(text));
}

TEST_CASE("clock: times beyond 64 bits of nanoseconds are refused, not wrapped") {
  CHECK_FALSE(parse_rfc3339("0001-01-01T00:00:00Z"));
  CHECK_FALSE(parse_rfc3339("9999-12-31T23:59:59Z"));
  CHECK(parse_rfc3339("2261-12-31T23:59:59Z"));
  CHECK(parse_rfc3339("1678-01-01T00:00:00Z"));
}

TEST_CASE("clock: durations for people") {
  CHECK(format_duration(12us) == "12 us");
  CHECK(format_duration(450ms) == "450 ms");
  CHECK(format_duration(3200ms) == "3.2 s");
  CHECK(format_duration(59'949ms) == "59.9 s");
  CHECK(format_duration(59'960ms) == "1 min 00 s");
  CHECK(format_duration(125s) == "2 min 05 s");
  CHECK(format_duration(72min) == "1 h 12 min");
  CHECK(format_duration(3 * 24h + 5h) == "3 d 05 h");
}

TEST_CASE("clock: seconds of a record for people, whatever it holds") {
  CHECK(seconds_text(0.45) == "450 ms");
  CHECK(seconds_text(3 * 86400.0 + 5 * 3600) == "3 d 05 h");
  CHECK(seconds_text(-125) == "-2 min 05 s");
  CHECK(seconds_text(1e308) == "1e+308 s");
  CHECK(seconds_text(std::nan("")) == "nan s");
  CHECK(seconds_text(-INFINITY) == "-inf s");
}

TEST_CASE("clock: durations of people") {
  CHECK(parse_duration("45s") == 45s);
  CHECK(parse_duration("30m") == 30min);
  CHECK(parse_duration("12h") == 12h);
  CHECK(parse_duration("7d") == 7 * 24h);
  CHECK(parse_duration("0s") == 0s);
  CHECK(parse_duration("00:10:00") == 10min);
  CHECK(parse_duration("100:00:01") == 100h + 1s);
  const std::string bad = GENERATE("", "s", "5", "-5s", "5 s", "5x", "1:2:3:4", ":5", "5:", "1.5h");
  INFO(bad);
  CHECK_FALSE(parse_duration(bad));
}

TEST_CASE("clock: days stand before hours as Slurm has them") {
  CHECK(parse_duration("1-00:00:00") == 24h);
  CHECK(parse_duration("2-03:04:05") == 51h + 4min + 5s);
  CHECK(parse_duration("0-01:30") == 90min);
  CHECK(parse_duration("7-12") == 180h);
  CHECK(parse_duration("36525-0") == longest_duration);
  const std::string bad =
      GENERATE("1-", "-1-00:00:00", "1-2-3", "1--2", "1-1:2:3:4", "1d-2", "x-1", "1-2h", "36526-0");
  INFO(bad);
  CHECK_FALSE(parse_duration(bad));
}

TEST_CASE("clock: no duration is so long that nanoseconds could not count to it from today") {
  CHECK(parse_duration("36525d") == longest_duration);
  CHECK(parse_duration("876600:00:00") == longest_duration);
  constexpr auto most = std::chrono::nanoseconds::max();
  static_assert(longest_duration < std::chrono::duration_cast<std::chrono::seconds>(most) / 2);
  const WallTime now = at(2026, 11, 20);
  CHECK(now - longest_duration < now);
  CHECK(now + longest_duration > now);
  const std::string bad = GENERATE("36526d",
                                   "999999d",
                                   "100000000w",
                                   "9223372036854775807s",
                                   "3155760001s",
                                   "876600:00:01",
                                   "1000000:00:00");
  INFO(bad);
  CHECK_FALSE(parse_duration(bad));
}

TEST_CASE("clock: the system's clocks go forward") {
  SystemClock clock;
  const auto steady = clock.steady();
  const auto wall = clock.now();
  clock.sleep_for(2ms);
  CHECK(clock.steady() >= steady + 2ms);
  CHECK(wall > at(2020, 1, 1));
}

TEST_CASE("clock: the tests' clock moves only when told, or when somebody sleeps") {
  test::FakeClock clock;
  const auto steady = clock.steady();
  clock.sleep_for(3s);
  clock.move(1s);
  CHECK(clock.steady() == steady + 4s);
  CHECK(clock.sleeps == std::vector<std::chrono::nanoseconds>{3s});
}
