#include "report/plots/plots.hpp"

#include <sabath/report/text.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;
using spec::RankedGroup;
using spec::Ranking;
using spec::Standing;

namespace {

RankedGroup group(std::uint64_t place, const std::string& level, double mean, Standing standing) {
  RankedGroup one;
  one.place = place;
  one.levels = {level};
  one.mean = mean;
  one.n = one.runs = 3;
  one.standing = standing;
  if (standing != Standing::best) one.difference = mean - 0.5;
  return one;
}

Ranking small_ranking() {
  Ranking ranking;
  ranking.recipe = "sweep";
  ranking.metric = "fit/loss";
  ranking.unit = "1";
  ranking.better = spec::Better::lower;
  ranking.by = {"lr"};
  ranking.margin = 0.01;
  ranking.margin_from = "the recipe";
  ranking.runs = 9;
  ranking.left_out = {{"failed", 2}};
  ranking.groups = {group(1, "0.1", 0.5, Standing::best),
                    group(1, "0.2", 0.501, Standing::tied),
                    group(3, "", 0.625, Standing::undecided)};
  ranking.groups[0].low = 0.25;
  ranking.groups[0].high = 0.75;
  ranking.groups[1].difference_low = -0.002;
  ranking.groups[1].difference_high = 0.004;
  ranking.groups[2].reason = "one seed shows no spread";
  ranking.excluded = {{{"1"}, 1, "1 seed, at least 3 are required"}};
  ranking.result = "undecided";
  ranking.reason = "lr 0.1 has the best mean";
  return ranking;
}

}  // namespace

TEST_CASE("ranking text: groups, their places, and what was excluded") {
  const std::string text = report::ranking_text(small_ranking());
  CHECK_THAT(text, Contains("recipe      sweep: 9 runs\n"));
  CHECK_THAT(text, Contains("fit/loss, lower is better; margin 0.01, by the recipe\n"));
  CHECK_THAT(text, Contains("left out    2 (failed)\n"));
  CHECK_THAT(text, Contains("0.5  [0.25, 0.75]"));
  CHECK_THAT(text, Contains("+0.001 [-0.002, 0.004]  tied\n"));
  CHECK_THAT(text, Contains("3?     (none)"));
  CHECK_THAT(text, Contains("undecided: one seed shows no spread\n"));
  CHECK_THAT(text, Contains("excluded    lr 1 (1 run): 1 seed, at least 3 are required\n"));
  CHECK_THAT(text, Contains("\nRESULT      UNDECIDED: lr 0.1 has the best mean\n"));
}

TEST_CASE("ranking text: without a margin, without groups, and with very many") {
  Ranking ranking = small_ranking();
  ranking.margin.reset();
  CHECK_THAT(report::ranking_text(ranking), Contains("no margin, so that no groups can be tied"));
  ranking.groups.resize(45, ranking.groups.back());
  CHECK_THAT(report::ranking_text(ranking),
             Contains("... and 5 more groups (--json has them all)\n"));
  ranking.groups.clear();
  ranking.result = "none";
  ranking.reason = "no group qualifies";
  CHECK_THAT(report::ranking_text(ranking),
             Contains("RESULT      NOTHING QUALIFIES: no group qualifies") && !Contains("place"));
}

TEST_CASE("ranking text: what a stranger wrote acts on no terminal") {
  Ranking ranking = small_ranking();
  ranking.by = {"\x1b[2Jlr"};
  ranking.groups[0].levels = {"\x1b[31m"};
  ranking.excluded[0].levels = {"\x1b]0;x\x07"};
  ranking.notes = {"\x1b[2J"};
  CHECK_THAT(report::ranking_text(ranking), !Contains("\x1b") && !Contains("\x07"));
}

TEST_CASE("scatter: runs are points, means a line, and decades have a logarithmic axis") {
  const report::Scatter decades{
      "loss over lr", "lr", "loss", {{0.001, 1}, {0.001, 3}, {0.01, 2}, {0.1, 4}}};
  const std::string plot = report::svg_text(report::scatter_plot(decades, "a"));
  CHECK_THAT(plot, Contains(">0.01</text>") && Contains(">0.1</text>"));
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (auto at = plot.find(part); at != std::string::npos; at = plot.find(part, at + 1))
      ++found;
    return found;
  };
  CHECK(count("class=\"point\"") == 4);
  CHECK(count("class=\"median\"") == 3);
  CHECK_THAT(report::scatter_description(decades),
             Contains("lr 0.001: n = 2, mean 2, from 1 to 3; lr 0.01: n = 1, mean 2"));
  const report::Scatter linear{"loss over width", "width", "loss", {{16, 1}, {32, 2}}};
  CHECK_THAT(report::svg_text(report::scatter_plot(linear, "b")),
             Contains(">20</text>") && Contains(">30</text>"));
}
