#include "batch/batch_throttle.hpp"

#include "support/errors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sabath;
using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

namespace {

spec::SchedulerDescription scheduler(const Names& options) {
  spec::SchedulerDescription description;
  description.name = "ours";
  for (const std::string& option : options)
    description.submit.options.push_back({option});
  return description;
}

spec::Site site(int at_once) {
  spec::Site made;
  made.name = "here";
  made.at_once = at_once;
  return made;
}

/// For each of `batches`, "1", "2" and so on, the one that it waits for.
Names waits(batch::BatchThrottle turns, std::size_t batches) {
  Names names;
  for (std::size_t i = 1; i <= batches; ++i)
    names.push_back(turns.next(std::to_string(i)).value_or("-"));
  return names;
}

}  // namespace

TEST_CASE("turns: arrays of which each is limited go one after another") {
  const auto all = scheduler({"-t {last}%{at_once}", "-w {after_any}"});
  CHECK(waits({all, site(2), 12, 5}, 3) == Names{"-", "1", "2"});
}

TEST_CASE("turns: single jobs wait for the one so many before") {
  const auto all = scheduler({"-w {after_any}"});
  CHECK(waits({all, site(2), 5, 1}, 5) == Names{"-", "-", "1", "2", "3"});
  CHECK(waits({all, site(1), 3, 1}, 3) == Names{"-", "1", "2"});
}

TEST_CASE("turns: arrays that are smaller than the limit go beside each other") {
  const auto all = scheduler({"-t {last}%{at_once}", "-w {after_any}"});
  CHECK(waits({all, site(7), 12, 3}, 4) == Names{"-", "-", "1", "2"});
}

TEST_CASE("turns: never do more tasks go at the same time than may") {
  const auto all = scheduler({"-t {last}%{at_once}", "-w {after_any}"});
  for (int at_once = 1; at_once < 9; ++at_once) {
    for (std::size_t largest = 1; largest < 9; ++largest) {
      constexpr std::size_t tasks = 40;
      const std::size_t batches = (tasks + largest - 1) / largest;
      const Names of = waits({all, site(at_once), tasks, largest}, batches);
      // At worst nothing but what it waits for has ended before a batch begins.
      std::size_t roots = static_cast<std::size_t>(std::count(of.begin(), of.end(), "-"));
      INFO(at_once << " " << largest);
      CHECK(roots * std::min<std::size_t>(largest, static_cast<std::size_t>(at_once)) <=
            static_cast<std::size_t>(at_once));
      for (const std::string& name : of)
        CHECK((name == "-" || std::count(of.begin(), of.end(), name) == 1));
    }
  }
}

TEST_CASE("turns: without a limit nothing waits, and nothing has to be known") {
  CHECK(waits({scheduler({}), site(0), 100, 1}, 3) == Names{"-", "-", "-"});
  CHECK(waits({scheduler({}), site(3), 3, 1}, 3) == Names{"-", "-", "-"});
}

TEST_CASE("turns: a limit that the scheduler cannot be held to is told") {
  const auto no_end = scheduler({"-t {last}%{at_once}"});
  CHECK_THROWS_WITH(batch::BatchThrottle(no_end, site(2), 6, 5),
                    Contains("site 'here': ours cannot be held to 2 at once: ") &&
                        Contains("no job can wait for the end of another"));
  CHECK_NOTHROW(batch::BatchThrottle(no_end, site(2), 5, 5));
  const auto no_limit = scheduler({"-t {last}", "-w {after_any}"});
  CHECK_THROWS_WITH(batch::BatchThrottle(no_limit, site(2), 5, 5),
                    Contains("no line with '{at_once}'"));
  CHECK_NOTHROW(batch::BatchThrottle(no_limit, site(5), 20, 5));
}
