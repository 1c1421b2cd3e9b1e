#include "support/errors.hpp"

#include <app/import_rows.hpp>

#include <cmath>

using namespace sabath;
using app::ImportedRow;
using app::read_imported_rows;
using test::contains;
using test::error_of;
using Columns = std::vector<std::string>;

namespace {

std::vector<ImportedRow> rows_of(const std::string& text,
                                 const Columns& facets = {"site"},
                                 const Columns& metrics = {"acc"}) {
  return read_imported_rows(text, "t.csv", facets, metrics, {{"share", 10000}, {"large", 56961}});
}

}  // namespace

TEST_CASE("import: rows have the columns that are asked for, to the last bit") {
  const auto rows = rows_of("site,job,acc\nA,1,0.993925690650939\nB,2,1e-3\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].number == 1);
  CHECK(rows[0].facets == std::map<std::string, std::string>{{"site", "A"}});
  CHECK(rows[0].metrics == std::vector<std::pair<std::string, double>>{{"acc", 0.993925690650939}});
  CHECK(rows[1].metrics.front().second == 0.001);
}

TEST_CASE("import: any table that programs write") {
  const std::string text = GENERATE("\xEF\xBB\xBFsite,acc\r\n\"A, B\",0.5\r\n",
                                    "site;acc\n\"A, B\";0.5\n",
                                    "site\tacc\n\"A, B\"\t 0.5 \n",
                                    " site , acc \n\n\"A, B\",+0.5\n   \n",
                                    "acc,x\"y,site\"\",\n");
  if (contains(text, "x\"y")) {
    CHECK(error_of([&] { rows_of(text); }).kind() == base::ErrorKind::usage);
    return;
  }
  const auto rows = rows_of(text);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].facets.at("site") == "A, B");
  CHECK(rows[0].metrics.front().second == 0.5);
}

TEST_CASE("import: missing cells are missing, NaN and infinities are values") {
  const auto rows = rows_of("site,acc,loss\nA,,nan\n,NA,-inf\n", {"site"}, {"acc", "loss"});
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].metrics.size() == 1);
  CHECK(rows[0].metrics[0].first == "loss");
  CHECK(std::isnan(rows[0].metrics[0].second));
  CHECK(rows[1].facets.empty());
  CHECK(rows[1].metrics[0].second == -HUGE_VAL);
}

TEST_CASE("import: a column that is not there is told with the nearest") {
  const auto error = error_of([] { rows_of("sites,acc\nA,1\n"); });
  CHECK(contains(error.what(), "t.csv:1: column 'site' is not there"));
  CHECK(error.hint() == "did you mean 'sites'?");
  CHECK(
      contains(error_of([] { rows_of("place,acc\nA,1\n"); }).hint(), "the columns are place, acc"));
  CHECK(contains(error_of([] { rows_of("site,site,acc\nA,B,1\n"); }).what(), "is there twice"));
  CHECK(rows_of("x,x,site,acc\n1,2,A,1\n").size() == 1);
}

TEST_CASE("import: decimal commas are refused with a hint") {
  const auto quoted = error_of([] { rows_of("site,acc\nA,\"0,5\"\n"); });
  CHECK(contains(quoted.what(), "t.csv:2: acc is '0,5', which is not a number"));
  CHECK(contains(quoted.hint(), "decimals with a point"));
  CHECK(contains(error_of([] { rows_of("site;acc\nA;0,5\n"); }).hint(), "decimals with a point"));
  const auto split = error_of([] { rows_of("site,acc\nA,0,5\n"); });
  CHECK(contains(split.what(), "has 3 columns, the header has 2"));
  CHECK(contains(split.hint(), "decimals have a point"));
}

TEST_CASE("import: all problems at once, with their lines, and no more than ten") {
  const auto error = error_of([] { rows_of("site,acc\n\"A\nB\",good\nC\nD,bad\n"); });
  CHECK(contains(error.what(), "t.csv:2: acc is 'good'"));
  CHECK(contains(error.what(), "t.csv:4: has 1 columns"));
  CHECK(contains(error.what(), "t.csv:5: acc is 'bad'"));
  std::string many = "site,acc\n";
  for (int i = 0; i < 50; ++i)
    many += "A,x\n";
  CHECK(contains(error_of([&] { rows_of(many); }).what(), "and 40 more"));
}

TEST_CASE("import: no rows, no text, no end of a quote") {
  CHECK(contains(error_of([] { rows_of("site,acc\n"); }).what(), "has no rows"));
  for (const char* const nothing : {"", "\n"})
    CHECK(contains(error_of([&] { rows_of(nothing); }).what(), "is empty"));
  CHECK(contains(error_of([] { rows_of("\xFF\xFEs"); }).what(), "UTF-16"));
  CHECK(contains(error_of([] { rows_of("site,acc\n\xff,1\n"); }).what(), "is not UTF-8"));
  CHECK(
      contains(error_of([] { rows_of(std::string("si\0te", 5)); }).what(), "not a table in text"));
  CHECK(contains(error_of([] { rows_of("site,acc\n\"A,1\n"); }).what(),
                 "t.csv:2: has a quote that does not end"));
}

TEST_CASE("import: no row is lost to a quote in its midst, nor a header to a comma in quotes") {
  const auto rows = rows_of("note,site,acc\n5\" x,A,1\nz,B,7\n6\" y,C,2\n");
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].facets.at("site") == "B");
  CHECK(rows[2].metrics.front().second == 2);
  CHECK(rows_of("site;acc;\"loss, train\"\nA;1;2\n", {"site"}, {"loss, train"}).size() == 1);
}

TEST_CASE("import: a facet that is NA is missing as an empty one is") {
  const auto rows = rows_of("site,acc\nNA,1\n,2\nA,3\n");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].facets.empty());
  CHECK(rows[1].facets.empty());
  CHECK(rows[2].facets.at("site") == "A");
}

TEST_CASE("import: a whole number that a double would change is refused") {
  const auto error = error_of([] {
    rows_of(
        "site,acc\nA,9007199254740993\nB,+0018014398509481985\n"
        "C,-9007199254740993.0\nD,9007199254740993e0\nE,9.007199254740993e15\n"
        "F,123456789012345678901234567890123456789\n");
  });
  CHECK(contains(error.what(), "t.csv:2: acc is '9007199254740993', which has more digits"));
  CHECK(contains(error.what(), "t.csv:3: acc is '+0018014398509481985', which has more digits"));
  CHECK(contains(error.what(), "t.csv:4: acc is '-9007199254740993.0', which has more digits"));
  CHECK(contains(error.what(), "t.csv:5: acc is '9007199254740993e0', which has more digits"));
  CHECK(contains(error.what(), "t.csv:6: acc is '9.007199254740993e15', which has more digits"));
  CHECK(contains(error.what(), "t.csv:7: acc is '123456789012345678901234567890123456789', which"));
  const auto rows = rows_of(
      "site,acc\nA,9007199254740992\nB,-10000000000000000\nC,9007199254740992.0\nD,1e23\nE,00\n");
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].metrics.front().second == 9007199254740992.0);
  CHECK(rows[1].metrics.front().second == -1e16);
}

TEST_CASE("import: a seed is a whole number however it is written, and nothing else") {
  const std::string one = GENERATE("1", "1.0", "01", "+1", " 1 ", "1e0");
  CHECK(rows_of("seed,acc\n" + one + ",0.5\n", {"seed"}).front().seed == 1U);
  CHECK(rows_of("seed,acc\n18446744073709551615,0.5\n", {"seed"}).front().seed == UINT64_MAX);
  CHECK_FALSE(rows_of("seed,acc\nNA,0.5\n", {"seed"}).front().seed);
  CHECK_FALSE(rows_of("seed,acc\n1,0.5\n", {}).front().seed);
  const std::string none = GENERATE("-1", "1.5", "first", "18446744073709551616");
  const auto error = error_of([&] { rows_of("seed,acc\n" + none + ",0.5\n", {"seed"}); });
  CHECK(contains(error.what(), "t.csv:2: seed is '" + none + "', which is not a seed"));
}

TEST_CASE("import: numbers are decimals that a double holds") {
  for (const char* cell : {"0x10", "1d5", "infinity", "-Infinity", "0x1p3"}) {
    INFO(cell);
    CHECK(contains(error_of([&] { rows_of("site,acc\nA," + std::string(cell) + "\n"); }).what(),
                   "t.csv:2: acc is '" + std::string(cell) + "', which is not a number"));
  }
  for (const char* cell : {"1e-400", "7e-330", "-1e-999"}) {
    INFO(cell);
    CHECK(contains(error_of([&] { rows_of("site,acc\nA," + std::string(cell) + "\n"); }).what(),
                   "which is too small"));
  }
  CHECK(contains(error_of([] { rows_of("site,acc\nA,1e400\n"); }).what(), "which is too large"));
  CHECK(rows_of("site,acc\nA,0e-400\nA,NaN\nA,+Inf\n").size() == 3);
  for (const char* seed : {"0x10", "1d2"}) {
    INFO(seed);
    CHECK(contains(
        error_of([&] { rows_of("seed,acc\n" + std::string(seed) + ",1\n", {"seed"}); }).what(),
        "is not a seed"));
  }
}

TEST_CASE("import: a share of a count is k/N, as far as it is printed and a float holds it") {
  const auto doubts = [](const std::string& metric, const std::string& value) {
    return rows_of(metric + "\n" + value + "\n", {}, {metric}).front().doubts;
  };
  for (const char* right : {"0", "1", "0.9919", "0.991900026798248", "0.99", "9.919e-1", "1e0"}) {
    CAPTURE(right);
    CHECK(doubts("share", right).empty());
  }
  for (const char* wrong :
       {"0.99195", "0.991950", "0.00005", "-0.5", "1.0001", "nan", "9.9195e-1"}) {
    CAPTURE(wrong);
    CHECK(doubts("share", wrong).size() == 1);
  }
  CHECK(doubts("large", "0.993925690650939").empty());
  CHECK(doubts("large", "0.993935690650939").size() == 1);
  CHECK(contains(doubts("large", "0.993935690650939").front(), ":2: large is '0.993935690650939'"));
}
