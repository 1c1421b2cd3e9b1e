#include "fetch/transfer/assignment.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using fetch::Applicant;
using fetch::assign;
using fetch::Coverage;
using fetch::InUse;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;
constexpr std::uint64_t size = 100 * mebi;

}  // namespace

TEST_CASE("coverage: ranges that touch or overlap become one") {
  Coverage there;
  there.add({10, 20});
  there.add({30, 40});
  CHECK(there.bytes() == 20);
  CHECK(there.first_missing(0) == 0);
  CHECK(there.first_missing(10) == 20);
  CHECK(there.first_missing(20) == 20);
  CHECK(there.first_present(0) == 10);
  CHECK(there.first_present(15) == 15);
  CHECK(there.first_present(20) == 30);
  CHECK(there.first_present(40) == Coverage::endless);
  there.add({15, 30});
  CHECK(there.bytes() == 30);
  CHECK(there.first_missing(10) >= 40);
  there.add({0, 100});
  CHECK(there.bytes() == 100);
  CHECK(there.first_missing(0) == 100);
  there.add({50, 60});
  there.add({7, 7});
  CHECK(there.bytes() == 100);
}

TEST_CASE("assignment: the lowest gap comes first, and ends at a piece's end") {
  Coverage there;
  there.add({0, 3 * mebi + 5});
  const auto first = assign(there, size, mebi, {}, {});
  REQUIRE(first);
  CHECK(first->range == base::ByteRange{3 * mebi + 5, 7 * mebi});
  const auto second = assign(there, size, mebi, {{first->range, 1e6, false}}, {});
  REQUIRE(second);
  CHECK(second->range.begin == 7 * mebi);
  CHECK_FALSE(second->from);
}

TEST_CASE("assignment: a range lasts long against the time that its request takes") {
  const Coverage there;
  const auto near = assign(there, size, mebi, {}, {.rate = 1e9, .response_seconds = 0.0001});
  CHECK(near->range == base::ByteRange{0, mebi});
  const auto far = assign(there, size, mebi, {}, {.rate = 10e6, .response_seconds = 0.1});
  CHECK(far->range.size() >= 19 * mebi);
  CHECK(far->range.size() <= 20 * mebi);
}

TEST_CASE("assignment: when all is in use, the one that needs longest gives of its end") {
  Coverage there;
  there.add({0, 80 * mebi});
  const std::vector<InUse> in_use{{{80 * mebi, 90 * mebi}, 10e6, false},
                                  {{90 * mebi, 100 * mebi}, 1e6, false}};
  const auto share = assign(there, size, mebi, in_use, {.rate = 9e6});
  REQUIRE(share);
  CHECK(share->from == 1);
  CHECK(share->range == base::ByteRange{91 * mebi, 100 * mebi});
}

TEST_CASE("assignment: one that brings nothing gives all, unless it has just begun") {
  Coverage there;
  there.add({0, 90 * mebi});
  std::vector<InUse> in_use{{{90 * mebi, 100 * mebi}, 0, true}};
  CHECK_FALSE(assign(there, size, mebi, in_use, {.rate = 1e6}));
  in_use.front().is_fresh = false;
  const auto all = assign(there, size, mebi, in_use, {.rate = 1e6});
  REQUIRE(all);
  CHECK(all->range == in_use.front().rest);
}

TEST_CASE("assignment: what would be there before the request is answered is not shared") {
  Coverage there;
  there.add({0, 99 * mebi});
  const std::vector<InUse> in_use{{{99 * mebi, 100 * mebi}, 100e6, false}};
  CHECK_FALSE(assign(there, size, mebi, in_use, {.rate = 100e6, .response_seconds = 0.1}));
}

TEST_CASE(
    "assignment: one that would keep the beginning waiting gives of its end before all is in use") {
  const Coverage there;
  std::vector<InUse> in_use{{{0, 40 * mebi}, 1e6, false}, {{40 * mebi, 41 * mebi}, 50e6, false}};
  const auto shared = assign(there, size, mebi, in_use, {.rate = 50e6});
  REQUIRE(shared);
  CHECK(shared->from == 0);
  CHECK(shared->range == base::ByteRange{mebi, 40 * mebi});
  in_use.front().rest.end = mebi / 2;  // is there soon enough
  const auto next = assign(there, size, mebi, in_use, {.rate = 50e6});
  REQUIRE(next);
  CHECK_FALSE(next->from);
  CHECK(next->range.begin == mebi / 2);
  in_use.front() = {{0, 40 * mebi}, 0, false};  // brings nothing yet
  CHECK_FALSE(assign(there, size, mebi, in_use, {.rate = 50e6})->from);
}

TEST_CASE("assignment: too little for two is taken whole from one that is let wait") {
  constexpr std::uint64_t little = 100'000;
  Coverage there;
  there.add({0, size - little});
  std::vector<InUse> in_use{{{size - little, size}, 0.2e6, false}};
  const Applicant applicant{.rate = 10e6, .response_seconds = 0.01};
  const auto whole = assign(there, size, mebi, in_use, applicant);
  REQUIRE(whole);
  CHECK(whole->from == 0);
  CHECK(whole->range == in_use.front().rest);
  in_use.front().rate = 2e6;  // there before anybody else could bring it
  CHECK_FALSE(assign(there, size, mebi, in_use, applicant));
}
