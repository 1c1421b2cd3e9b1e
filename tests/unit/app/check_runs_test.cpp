#include "unit/app/workbench.hpp"

#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/app/check_runs.hpp>
#include <sabath/spec/run_record.hpp>

using namespace sabath;
using spec::Verdict;
using test::contains;

namespace {

struct CheckBench : test::Workbench {
  CheckBench() {
    launcher.metrics = [this](const spec::RunPlan&) {
      return "{\"step\": 1, \"loss\": " + std::to_string(loss) + "}\n";
    };
    check.what = "tiny";
    check.now = clock.now();
  }
  void make(double value, std::uint64_t seed = 7, const std::string& tag = "first") {
    loss = value;
    planning::RunRequest wanted = request();
    wanted.seed = seed;
    wanted.tags = {tag};
    run(wanted);
  }
  spec::CheckReport checked(const std::string& selection = "recipe=tiny") {
    return app::check_runs(rows(selection), check, catalog);
  }
  /// An accepted baseline of the runs that there are.
  void accept() {
    analysis::ProposalRequest proposal;
    proposal.selection = "recipe=tiny";
    check.baseline =
        analysis::propose_baseline(rows("recipe=tiny"), proposal, {}, catalog).baseline;
    for (spec::BaselineEntry& entry : check.baseline->entries)
      entry.accepted = spec::Acceptance{"ada", "2026-11-20T10:32:05Z", "first"};
    check.file = "baseline.json";
  }
  double loss = 0;
  app::CheckRequest check{};
};

const spec::CheckCase* find(const spec::CheckReport& report, const std::string& name) {
  for (const spec::CheckGroup& group : report.groups) {
    for (const spec::CheckCase& one : group.cases) {
      if (one.name == name) return &one;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("check: without a baseline runs of one seed are held against one another") {
  CheckBench bench;
  bench.make(0.5);
  bench.make(0.5);
  CHECK(bench.checked().verdict == Verdict::pass);
  bench.make(0.75);
  CHECK(bench.checked().verdict == Verdict::fail);
}

TEST_CASE("check: a failed run fails, an interrupted one leaves it open") {
  CheckBench bench;
  bench.make(0.5);
  bench.make(0.5);
  bench.launcher.end = [](const spec::RunPlan&, spec::RunRecord& record) {
    record.state = spec::RunState::interrupted;
  };
  bench.make(0.5);
  CHECK(bench.checked().verdict == Verdict::inconclusive);
  bench.launcher.end = [](const spec::RunPlan&, spec::RunRecord& record) {
    record.state = spec::RunState::failed;
    record.message = "it diverged";
  };
  bench.make(0.5);
  const spec::CheckReport report = bench.checked();
  CHECK(report.verdict == Verdict::fail);
}

TEST_CASE("check: what was asked for and has no run leaves it open") {
  CheckBench bench;
  bench.make(0.5);
  bench.make(0.5);
  bench.check.not_run = {"run 3"};
  const spec::CheckReport report = bench.checked();
  CHECK(report.verdict == Verdict::inconclusive);
  REQUIRE(find(report, "run 3") != nullptr);
  CHECK(find(report, "run 3")->reason == "it has no run");
}

TEST_CASE("check: runs are held against the accepted entry of a baseline") {
  CheckBench bench;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    bench.make(0.5 + 0.001 * static_cast<double>(seed), seed);
  bench.accept();
  spec::CheckReport report = bench.checked();
  REQUIRE(report.groups.size() == 1);
  CHECK(contains(report.groups.front().against, "6 runs, accepted by ada"));
  const bool is_told = std::ranges::any_of(report.groups.front().notes, [](const auto& note) {
    return contains(note, "agreement proves nothing");
  });
  CHECK(is_told);
  CHECK(report.verdict == Verdict::inconclusive);

  for (std::uint64_t seed = 11; seed <= 16; ++seed)
    bench.make(5 + 0.001 * static_cast<double>(seed), seed, "later");
  report = bench.checked("tag=later");
  const spec::CheckCase* loss = find(report, "train/loss");
  REQUIRE(loss != nullptr);
  CHECK(loss->verdict == Verdict::inconclusive);
}

TEST_CASE("check: a baseline without an accepted entry for the runs cannot judge them") {
  CheckBench bench;
  bench.make(0.5);
  bench.make(0.5);
  bench.accept();
  for (spec::BaselineEntry& entry : bench.check.baseline->entries)
    entry.accepted.reset();
  const spec::CheckReport proposed = bench.checked();
  CHECK(contains(find(proposed, "baseline")->reason, "nobody accepted it"));
  bench.accept();
  bench.check.baseline->entries.front().holds_for.parameters["epochs"] = std::int64_t{99};
  const spec::CheckReport other = bench.checked();
  CHECK(find(other, "baseline")->verdict == Verdict::not_comparable);
  bench.check.baseline->entries.clear();
  CHECK(contains(find(bench.checked(), "baseline")->reason, "no accepted entry"));
}

TEST_CASE("check: runs that no entry can hold for are not even made") {
  CheckBench bench;
  bench.make(0.5);
  CHECK_FALSE(app::refuse_before_runs("tiny", {}, bench.check));
  bench.accept();
  spec::BaselineKey key = bench.check.baseline->entries.front().holds_for;
  CHECK_FALSE(app::refuse_before_runs("tiny", {key}, bench.check));
  key.parameters["epochs"] = std::int64_t{99};
  const auto refused = app::refuse_before_runs("tiny", {key}, bench.check);
  REQUIRE(refused);
  CHECK(refused->verdict == Verdict::not_comparable);
}

namespace {

/// A bench whose loss is best at its second value of three.
struct JudgeBench : CheckBench {
  JudgeBench() {
    launcher.metrics = [this](const spec::RunPlan&) {
      std::string lines;
      for (const double value : {loss + 1, loss, loss + 2})
        lines += "{\"loss\": " + std::to_string(value) + "}\n";
      return lines;
    };
  }
  /// From now on the metric is written so.
  void declare(const std::string& metric) const {
    std::string text = recipe_text;
    const std::string before = R"({"better": "lower"})";
    text.replace(text.find(before), before.size(), metric);
    add_recipe("tiny", text);
  }
};

}  // namespace

TEST_CASE("check: values are held against a baseline of the same judge") {
  JudgeBench bench;
  bench.declare(R"({"better": "lower", "judge": "best"})");
  bench.make(0.5);
  bench.accept();
  const spec::BaselineMetric& metric = bench.check.baseline->entries.at(0).metrics.at(0);
  CHECK(metric.values == std::vector<double>{0.5});
  CHECK(metric.judge == "best");
  bench.make(0.5, 7, "same");
  const spec::CheckReport same = bench.checked("tag=same");
  REQUIRE(find(same, "train/loss") != nullptr);
  CHECK(find(same, "train/loss")->verdict == Verdict::pass);
  CHECK(find(same, "train/loss")->judge == "best");
  // The definition is the same, and the value is not what was accepted.
  bench.declare(R"({"better": "lower"})");
  bench.make(0.5, 7, "other");
  const spec::CheckReport other = bench.checked("tag=other");
  CHECK(other.verdict == Verdict::not_comparable);
  REQUIRE(find(other, "train/loss") != nullptr);
  CHECK(contains(find(other, "train/loss")->reason, "is judged by 'last', the baseline by 'best'"));
  CHECK(bench.checked("recipe=tiny").verdict == Verdict::not_comparable);
}

TEST_CASE("check: a baseline is made of runs with one judge, and compared with one of the same") {
  JudgeBench bench;
  bench.declare(R"({"better": "lower", "judge": {"mean_of_last": 2}})");
  bench.make(0.5);
  bench.accept();
  CHECK(bench.check.baseline->entries.at(0).metrics.at(0).values == std::vector<double>{1.5});
  bench.declare(R"({"better": "lower", "judge": "best"})");
  bench.make(0.5, 7, "later");
  analysis::ProposalRequest proposal;
  const base::Error mixed = test::error_of(
      [&] { analysis::propose_baseline(bench.rows("recipe=tiny"), proposal, {}, bench.catalog); });
  CHECK(mixed.kind() == base::ErrorKind::usage);
  CHECK(contains(mixed.what(), "is judged by '"));
  CHECK(contains(mixed.what(), "'mean of last 2'"));
  CHECK(contains(mixed.what(), "'best'"));
  CHECK(contains(mixed.hint(), "sabath collect"));
  const analysis::Proposal again = analysis::propose_baseline(
      bench.rows("tag=later"), proposal, *bench.check.baseline, bench.catalog);
  REQUIRE(again.changes.size() == 1);
  CHECK(again.changes[0].verdict == Verdict::not_comparable);
}
