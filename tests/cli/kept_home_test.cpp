// A home that an earlier version made is read as before: runs, a study, a failed run, an imported
// table, a baseline, objects, a tree and an interrupted transfer. tests/data/homes/README.md says
// how it was made.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

class KeptHome {
 public:
  KeptHome() {
    const std::string archive = std::string(SABATH_TEST_DATA) + "/homes/0.1.0-95a7bd94.tar.gz";
    REQUIRE(sabath.program({"tar", "xzf", archive, "-C", folder(), "--no-same-owner"}).status == 0);
    sabath.environment()["SABATH_HOME"] = folder() + "/home";
  }
  std::string folder() const { return sabath.folder().string(); }
  /// "id state counts" of each run, newest first.
  std::vector<std::string> runs() const {
    std::vector<std::string> lines;
    const json answer = answered(sabath, {"list", "runs", "--all"});
    for (const auto& row : answer["runs"]) {
      lines.push_back(row["id"].get<std::string>() + " " + row["state"].get<std::string>() +
                      (row["counts"].get<bool>() ? " counts" : ""));
    }
    return lines;
  }

  Sabath sabath{};
  // Three show what another run executed.
  const std::vector<std::string> kept{"table-20261125-231511-aaaaacto imported counts",
                                      "table-20261125-231511-aaaaabqt imported counts",
                                      "count-20261125-231500-uttsnuwv failed",
                                      "count-20261125-231500-fleqhuqy ok",
                                      "count-20261125-231500-lbogithu ok counts",
                                      "count-20261125-231500-xxredsus ok",
                                      "count-20261125-231500-chfwwwlm ok",
                                      "count-20261125-231459-niupilbh ok counts",
                                      "count-20261125-231459-ninbglzi ok counts"};
};

}  // namespace

TEST_CASE("kept home: the catalog, and one made again from the records, list the same runs") {
  KeptHome home;
  CHECK(home.runs() == home.kept);
  done(home.sabath, {"catalog", "reindex"});
  CHECK(home.runs() == home.kept);
}

TEST_CASE("kept home: records, series, studies and baselines are read") {
  KeptHome home;
  const auto repeat = home.sabath({"compare",
                                   "count-20261125-231459-ninbglzi",
                                   "count-20261125-231500-chfwwwlm",
                                   "--require",
                                   "bitwise"});
  CHECK(repeat.status == 3);  // the second reused the stage of the first
  CHECK_THAT(repeat.output, Contains("equal to the bit: all 2 metrics and outputs"));
  const auto other = home.sabath({"compare",
                                  "count-20261125-231459-ninbglzi",
                                  "count-20261125-231500-lbogithu",
                                  "--across",
                                  "parameters"});
  CHECK(other.status == 1);
  const json shown = answered(home.sabath, {"show", "count-20261125-231459-niupilbh"});
  CHECK(shown.dump().find("kept") != std::string::npos);
  CHECK_THAT(done(home.sabath, {"show", "count-20261125-231459-niupilbh"}).output,
             Contains("count/loss"));
  CHECK_THAT(done(home.sabath, {"status", "count-study-20261125-231459-ewwted"}).output,
             Contains("4 runs: 4 ok"));
  const std::string baseline = home.folder() + "/base.json";
  done(home.sabath, {"baseline", "accept", baseline, "--by", "anna"});
  CHECK(home.sabath({"check", "recipe=count,status=ok", "--baseline", baseline}).status == 0);
}

TEST_CASE("kept home: objects, trees and partials of the cache are known") {
  KeptHome home;
  CHECK_THAT(done(home.sabath, {"verify", "--full"}).output, Contains("8 objects and 1 trees"));
  CHECK_THAT(
      done(home.sabath, {"--catalog", home.folder() + "/cat", "fetch", "old-table", "--offline"})
          .output,
      Contains("1 already there"));
  const std::string space = done(home.sabath, {"cache", "du"}).output;
  CHECK_THAT(space, Contains("partial"));
}

TEST_CASE("kept home: a run is repeated to the bit from what it kept") {
  KeptHome home;
  const auto again = home.sabath({"repro", "count-20261125-231459-niupilbh"});
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("equal to the bit"));
}
