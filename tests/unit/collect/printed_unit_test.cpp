// Notes on units that are printed behind numbers.
#include "support/stage_left.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;
using spec::SourceKind;
using test::metric_from;
using test::StageLeft;
using Values = std::vector<double>;

TEST_CASE("collect: a unit that the recipe does not say is told where it changes") {
  StageLeft left;
  left.out("acc: 0.5\nacc: 50%\nacc: 0.9\n");
  const auto got = left.collect({metric_from("acc", SourceKind::key_value)});
  CHECK(left.values("acc") == Values{0.5, 50, 0.9});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(
      got.collected.notes[0],
      Contains("1 match(es) have another unit than the first") && Contains("stdout.log:2: '50%'"));
}

TEST_CASE("collect: a word that may be a unit is told, and the value taken") {
  const auto notes_of = [](const std::string& unit) {
    StageLeft left;
    left.out("v: 3 widgets\nv: 4\nv: 5 w: 7\n");
    spec::MetricSpec metric = metric_from("v", SourceKind::key_value);
    metric.unit = unit;
    const auto got = left.collect({metric});
    CHECK(left.values("v") == Values{3, 4, 5});
    return got.collected.notes;
  };
  const auto notes = notes_of("W");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             Contains("1 match(es) have a word behind the number that is not a known unit") &&
                 Contains("stdout.log:1: '3 widgets'"));
  CHECK(notes_of("1").empty());
  CHECK(notes_of("").empty());
  CHECK(notes_of("widgets").empty());
}

TEST_CASE("collect: a number in another unit is told with its unit") {
  StageLeft left;
  left.out("p: 3 GHz\n");
  spec::MetricSpec metric = metric_from("p", SourceKind::key_value);
  metric.unit = "W";
  const auto got = left.collect({metric});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Contains("another unit than the recipe says") && Contains("stdout.log:1: '3 GHz'"));
}
