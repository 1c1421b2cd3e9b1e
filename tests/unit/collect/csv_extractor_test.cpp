#include "support/stage_left.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using Catch::Contains;
using test::metric_from;
using test::StageLeft;
using Values = std::vector<double>;

namespace {

spec::MetricSpec column(const std::string& name, const std::string& key = {}) {
  return metric_from(name, spec::SourceKind::csv, {}, "log.csv", key);
}

}  // namespace

TEST_CASE("collect: the columns of a table are metrics, at their epochs") {
  StageLeft left;
  left.file("outputs/log.csv",
            "epoch,accuracy,loss,val_loss\r\n0,0.5,1.25,2.5\r\n1,0.75,0.30000000000000004,NA\r\n");
  const auto got = left.collect({column("loss"), column("validation", "val_loss")});
  CHECK(left.values("loss") == Values{1.25, 0.1 + 0.2});
  CHECK(left.values("validation") == Values{2.5});
  CHECK(left.point("loss", 1).epoch == 1);
  CHECK(got.bad_lines == 0);
  CHECK(got.collected.empty());
}

TEST_CASE(
    "collect: a table may be separated by semicolons, quoted, begun by a mark, and lie in the work "
    "folder") {
  StageLeft left;
  left.file(
      "own/work/log.csv",
      "\xEF\xBB\xBFstep;\"my \"\"loss\"\"\";shape\n5;\"nan\";\"[1; 2]\"\n6;-inf;\"[3; 4]\"\n\n");
  left.collect({column("l", "my \"loss\"")});
  REQUIRE(left.values("l").size() == 2);
  CHECK(std::isnan(left.values("l")[0]));
  CHECK(left.point("l", 1).step == 6);
}

TEST_CASE("collect: a row that cannot be read is counted, and the others are taken") {
  StageLeft left;
  left.file("outputs/log.csv",
            "epoch,loss\n0,1\n1\n2,abc\n3,1e999\n4,0,5\n5,\"0,5\"\nx,8\n9,2\n6,\"7\n9,3\n");
  const auto got = left.collect({column("loss")});
  CHECK(left.values("loss") == Values{1, 8, 2, 3});
  CHECK(left.point("loss", 1).epoch == base::no_step);  // nobody asked for the epoch
  CHECK(got.bad_lines == 6);
  REQUIRE(got.examples.size() == 6);
  CHECK(got.examples[0].line == 3);
  CHECK(got.examples[0].problem == "has 1 columns, the header has 2");
  CHECK(got.examples[1].problem == "has 'abc', which is not a number");
  CHECK(got.examples[4].problem == "has '0,5', which is not a number");
  CHECK(got.examples[5].line == 10);
  CHECK(got.examples[5].problem == "has a quote that does not end");
}

TEST_CASE("collect: a writer that was killed within quotes takes no rows of the next one with it") {
  StageLeft left;
  const bool is_long = GENERATE(false, true);
  std::string text = "epoch,loss,note\n0,1,fine\n1,2,\"cut o2,3,go on\n3,4,fine\n";
  if (is_long) text += "4,5," + std::string(2U << 20U, 'x') + "\n5,6,fine\n";
  left.file("outputs/log.csv", text);
  const auto got = left.collect({column("loss")});
  CHECK(left.values("loss") == (is_long ? Values{1, 4, 6} : Values{1, 4}));
  REQUIRE(got.examples.size() == (is_long ? 2 : 1));
  CHECK(got.examples[0].line == 3);
  CHECK(got.bad_lines == got.examples.size());
}

TEST_CASE("collect: quotes of a table hold line ends, and within a text they are none") {
  StageLeft left;
  left.file("outputs/log.csv",
            "epoch;\"loss, train\";note\n0;1;\"two\nlines\"\n1;2;5\" x\n2;3;6\" y\n3;bad;\n");
  const auto got = left.collect({column("loss", "loss, train")});
  CHECK(left.values("loss") == Values{1, 2, 3});
  REQUIRE(got.examples.size() == 1);
  CHECK(got.examples[0].line == 6);
}

TEST_CASE("collect: a row of a table that is too long is counted, and the next one is read") {
  StageLeft left;
  left.file("outputs/log.csv",
            "epoch,loss,note\n0,1," + std::string(2U << 20U, 'x') + "\n1,2,short\n");
  const auto got = left.collect({column("loss")});
  CHECK(left.values("loss") == Values{2});
  REQUIRE(got.examples.size() == 1);
  CHECK(got.examples[0].line == 2);
}

TEST_CASE("collect: a padded header counts, and one that was written again is no row") {
  StageLeft left;
  left.file("outputs/log.csv",
            "   epoch,   loss, time\n 0, 1,00:12:30\n   epoch,   loss, time\n 1, 0.5,0.25\n");
  const auto got = left.collect({column("loss")});
  CHECK(left.values("loss") == Values{1, 0.5});
  CHECK(left.point("loss", 1).epoch == 1);
  CHECK(left.point("loss", 1).time_s == 0.25);
  CHECK(got.bad_lines == 0);
}

TEST_CASE("collect: a row of half an epoch keeps its values without one, which is told") {
  StageLeft left;
  left.file("outputs/log.csv", "epoch,loss\n0.5,4\n1.0,3\n1.5\n1.5,2\nx,1\n");
  const auto got = left.collect({column("loss")});
  CHECK(left.values("loss") == Values{4, 3, 2, 1});
  CHECK(left.point("loss", 0).epoch == base::no_step);
  CHECK(left.point("loss", 1).epoch == 1);
  CHECK(got.bad_lines == 1);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("2 line(s)") && Contains("log.csv:2: '0.5'"));
}

TEST_CASE("collect: a column that is not there is told with those that are") {
  StageLeft left;
  left.file("outputs/log.csv", "epoch,loss\n0,1\n");
  const auto got = left.collect({column("loss"), column("acc")});
  CHECK(left.values("loss") == Values{1});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("it has epoch, loss"));
}

TEST_CASE("collect: a table whose column is there twice is refused") {
  for (const char* header : {"x,x", "step,x,step", "x,epoch, epoch "}) {
    INFO(header);
    StageLeft left;
    left.file("outputs/log.csv", std::string(header) + "\n1,2,3\n4,5\n");
    const auto got = left.collect({column("x")});
    CHECK(left.sink.points.empty());
    REQUIRE(got.examples.size() == 1);
    CHECK(got.examples[0].line == 1);
    CHECK_THAT(got.examples[0].problem, Contains("has the column '") && Contains("' twice"));
  }
  StageLeft left;
  left.file("outputs/log.csv", "y,y,x\n1,2,3\n");
  CHECK(left.collect({column("x")}).bad_lines == 0);
}

TEST_CASE("collect: a cell that is too small for a double is not 0") {
  StageLeft left;
  left.file("outputs/log.csv", "x\n1e-400\n0e-400\n4.9e-324\n");
  const auto got = left.collect({column("x")});
  CHECK(left.values("x") == Values{0, 4.9e-324});
  REQUIRE(got.examples.size() == 1);
  CHECK(got.examples[0].problem == "has '1e-400', which is too small");
}

TEST_CASE("collect: steps of a table are not rounded") {
  StageLeft left;
  left.file("outputs/log.csv",
            "step,x\n9007199254740993.0,1\n9223372036854775808,2\n1e-400,3\n\"1,001\",4\nlast,5\n");
  const auto got = left.collect({column("x")});
  REQUIRE(left.values("x") == Values{1, 2, 3, 4, 5});
  CHECK(left.point("x", 0).step == 9007199254740993);
  CHECK(left.point("x", 1).step == base::no_step);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Contains("3 line(s)") && Contains("log.csv:3: '9223372036854775808'"));
}
