// Which runs count is one number, whoever asks.
#include "report/document.hpp"
#include "support/fake_clock.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/analysis/group_selection.hpp>
#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/analysis/rank_runs.hpp>
#include <sabath/analysis/report_runs.hpp>
#include <sabath/analysis/study_outcome.hpp>
#include <sabath/analysis/study_power.hpp>
#include <sabath/app/check_runs.hpp>
#include <sabath/app/run_study.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace sabath;
using analysis::NamedRuns;
using spec::RunState;
namespace fs = std::filesystem;

namespace {

const std::string recipe_text = R"({"schema": 1, "name": "tiny",
  "stages": [{"name": "one", "run": ["true"]}],
  "parameters": {"threads": {"type": "int", "default": 1, "affects": "execution"},
                 "perturb_1ulp": {"type": "int", "default": 0}},
  "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5},
              "epoch_ms": {"unit": "ms", "better": "lower", "kind": "performance"}}})";

bool has_ended(RunState state) {
  return state != RunState::planned && state != RunState::running && state != RunState::unknown;
}

/// A catalog with run directories of random runs.
class RandomHome {
 public:
  RandomHome(std::uint32_t seed, bool is_study) : random_(seed), is_study_(is_study) {
    const std::size_t runs = 1 + below(16);
    for (std::size_t n = 0; n < runs; ++n)
      add(n);
    rows = catalog.select("recipe=tiny", {});
  }

  std::uint32_t below(std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random_);
  }

 private:
  std::vector<std::string> tags() {
    const std::vector<std::vector<std::string>> all{{},
                                                    {},
                                                    {"ci"},
                                                    {"asset:bubbles"},
                                                    {"explain", "hybrid-0123456789abcdef"},
                                                    {"hybrid-model"},
                                                    {"explain"},
                                                    {"ci", "asset:bubbles"}};
    return all[is_study_ ? 0 : below(static_cast<std::uint32_t>(all.size()))];
  }

  void add(std::size_t n) {
    const std::vector<RunState> states{RunState::ok,
                                       RunState::ok,
                                       RunState::ok,
                                       RunState::ok,
                                       RunState::failed,
                                       RunState::interrupted,
                                       RunState::lost,
                                       RunState::stopped,
                                       RunState::imported,
                                       RunState::running,
                                       RunState::planned,
                                       RunState::unknown};
    spec::RunRecord record = test::full_record();
    record.run_id = fmt::format("tiny-20261120-1032{:02}-abcdefgh", n);
    record.created = fmt::format("2026-11-20T10:32:{:02}.000Z", n);
    record.state = states[below(static_cast<std::uint32_t>(states.size()))];
    record.tags = tags();
    record.recipe_text = recipe_text;
    record.recipe_digest = base::sha256_of(recipe_text);
    record.recipe_definition = spec::parse_recipe(recipe_text, "recipe").definition_digest({});
    record.execution_parameters = {"threads"};
    record.task.reset();
    record.study_id = is_study_ ? "tiny-20261120-103200-studyaaa" : "";
    record.seed.value = 1 + below(3);
    const std::int64_t perturbation = below(3) == 0 ? 1 + below(2) : 0;
    record.parameters = {{"threads", std::int64_t{1 + below(3)}}, {"perturb_1ulp", perturbation}};
    record.metrics = {metric("loss", "1", false), metric("epoch_ms", "ms", true)};
    record.outputs.clear();
    record.stages = {stage(n)};
    const fs::path directory = folder_ / record.run_id;
    if (has_ended(record.state)) {
      fs::create_directories(directory);
      base::write_file_atomically(directory / "record.json", home::record_text(record));
      if (record.state != RunState::imported) write_series(record, directory);
    } else {
      record.ended.clear();
    }
    catalog.put_record(record, directory.string());
    note_point(record, directory, perturbation);
  }

  /// Executed, or reused from a run that may be no run here.
  spec::StageRecord stage(std::size_t n) {
    spec::StageRecord one;
    one.name = "one";
    one.state = below(3) == 0 ? "reused" : "ok";
    if (one.state == "reused")
      one.made_by_run = fmt::format("tiny-20261120-1032{:02}-abcdefgh",
                                    below(static_cast<std::uint32_t>(n) + 1) * 2 % 17);
    return one;
  }

  spec::MetricSummary metric(const char* name, const char* unit, bool performance) {
    spec::MetricSummary summary;
    summary.stream = "one";
    summary.name = name;
    summary.unit = unit;
    summary.better = spec::Better::lower;
    summary.performance = performance;
    summary.points = 3;
    summary.first = summary.last = summary.min = summary.max = 1 + below(4);
    summary.mean = summary.median = summary.last;
    return summary;
  }

  /// As many points as the record sums up, all of one value.
  static void write_series(const spec::RunRecord& record, const fs::path& directory) {
    arrays::SeriesWriter writer(home::RunFiles(directory).series());
    for (const spec::MetricSummary& metric : record.metrics) {
      const base::SeriesId id = writer.open(metric.stream, metric.name);
      for (std::uint64_t i = 0; i < metric.points; ++i) {
        base::SeriesPoint point;
        point.step = static_cast<std::int64_t>(i);
        point.value = metric.last;
        writer.add(id, point);
      }
    }
    writer.close();
  }

  void note_point(const spec::RunRecord& record,
                  const fs::path& directory,
                  std::int64_t perturbation) {
    spec::StudyPoint& point = study.plan.points.emplace_back();
    if (perturbation != 0) point.set["perturb_1ulp"] = std::to_string(perturbation);
    analysis::PointOutcome& outcome = study.points.emplace_back();
    outcome.run = execution::RunOutcome{record.run_id, directory, record.state, ""};
    outcome.runs = 1;
  }

  std::mt19937 random_;
  bool is_study_;
  test::TempHome folder_;

 public:
  catalog::Catalog catalog{folder_ / "catalog.db"};
  std::vector<catalog::RunRow> rows{};
  analysis::StudyOutcome study{};
};

/// What somebody may have typed; nothing most of the time.
NamedRuns named_in(RandomHome& home) {
  NamedRuns named;
  switch (home.below(6)) {
    case 0:
      named.add_selection("tag=explain", {}, home.catalog);
      break;
    case 1:
      named.add_selection("recipe=tiny,perturb_1ulp=1", {}, home.catalog);
      break;
    case 2:
      named.add_selection("tiny-2026", {home.rows.front()}, home.catalog);
      break;
    default:
      named.add_selection("recipe=tiny", home.rows, home.catalog);
  }
  return named;
}

std::uint64_t in_groups(const spec::GroupComparison& comparison) {
  std::uint64_t runs = 0;
  for (const spec::RunGroup& group : comparison.groups)
    runs += group.runs;
  return runs;
}

void check_compare(const RandomHome& home, const NamedRuns& named, std::uint64_t n) {
  analysis::GroupsRequest request;
  request.named = named;
  request.across = {"recipe", "data", "parameters", "task"};
  for (const std::vector<std::string>& by :
       {std::vector<std::string>{}, {"threads"}, {"threads", "seed"}}) {
    request.by = by;
    const spec::GroupComparison comparison =
        analysis::compare_groups(home.rows, request, home.catalog);
    CHECK(comparison.runs == n);
    CHECK(in_groups(comparison) == n);
  }
  request.by.clear();
  const auto middle = home.rows.begin() + static_cast<std::ptrdiff_t>(home.rows.size() / 2);
  const std::vector<catalog::RunRow> a(home.rows.begin(), middle);
  const std::vector<catalog::RunRow> b(middle, home.rows.end());
  CHECK(analysis::compare_sides(a, b, request, home.catalog).runs == n);
  CHECK(analysis::runs_to_judge(home.rows, request, home.catalog).size() == n);
}

void check_rank(const RandomHome& home, const NamedRuns& named, std::uint64_t n) {
  analysis::RankRequest request;
  request.named = named;
  request.across = {"recipe", "data", "parameters", "task"};
  request.rules.by = {"threads"};
  const spec::Ranking ranking = analysis::rank_runs(home.rows, request, home.catalog);
  CHECK(ranking.runs == n);
  std::uint64_t runs = 0;
  for (const spec::RankedGroup& group : ranking.groups)
    runs += group.runs;
  for (const spec::ExcludedGroup& group : ranking.excluded)
    runs += group.runs;
  CHECK(runs == n);
}

void check_report(const RandomHome& home, const NamedRuns& named, std::uint64_t n) {
  test::FakeClock clock;
  for (const std::vector<std::string>& by : {std::vector<std::string>{}, {"threads"}}) {
    analysis::ReportRequest request;
    request.named = named;
    request.by = by;
    const report::Report report = analysis::report_runs(home.rows, request, home.catalog, clock);
    CHECK(report.runs.size() == home.rows.size());
    CHECK(report.count.counted == n);
    if (report.groups) CHECK(report.groups->runs == n);
    for (std::size_t metric = 0; metric < report.metrics.size(); ++metric) {
      std::size_t values = 0;
      for (const auto& row : report::groups_of(report, metric, report::Rows::groups).rows)
        values += row.values.size();
      CHECK(values == n);
    }
  }
}

void check_judged(const RandomHome& home, const NamedRuns& named, std::uint64_t n) {
  const std::vector<std::string> reasons =
      analysis::why_not_counted(home.rows, named, home.catalog);
  std::uint64_t imported = 0;  // these count, and prove nothing
  for (std::size_t i = 0; i < home.rows.size(); ++i)
    imported += reasons[i].empty() && home.rows[i].state == RunState::imported ? 1 : 0;
  app::CheckRequest request;
  request.named = named;
  const spec::CheckReport report = app::check_runs(home.rows, request, home.catalog);
  REQUIRE(report.runs);
  CHECK(report.runs->counted == n);
  std::uint64_t judged = 0;
  for (const spec::CheckGroup& group : report.groups)
    judged += group.runs.size();
  CHECK(judged + imported == n);
  if (judged == 0) return;
  analysis::ProposalRequest proposal;
  proposal.named = named;
  std::uint64_t proposed = 0;
  const auto made = analysis::propose_baseline(home.rows, proposal, {}, home.catalog);
  for (const spec::BaselineEntry& entry : made.baseline.entries)
    proposed += entry.runs.size();
  CHECK(proposed == judged);
}

}  // namespace

TEST_CASE("counted runs: every command has the same number over random catalogs", "[simulation]") {
  constexpr std::uint32_t catalogs = 200;
  std::uint64_t runs = 0;
  std::uint64_t counted = 0;
  std::uint64_t copies = 0;
  const spec::Recipe recipe = spec::parse_recipe(recipe_text, "recipe");
  for (std::uint32_t seed = 0; seed < catalogs; ++seed) {
    INFO("catalog " << seed);
    RandomHome home(seed, seed % 2 == 1);
    const NamedRuns named = seed % 2 == 1 ? NamedRuns{} : named_in(home);
    const std::uint64_t n =
        spec::count_runs(analysis::why_not_counted(home.rows, named, home.catalog)).counted;
    runs += home.rows.size();
    counted += n;
    for (const std::string& reason : analysis::why_not_counted(home.rows, named, home.catalog))
      copies += reason == "copied from the cache" ? 1 : 0;
    CHECK(analysis::count_selection("recipe=tiny", {}, named, home.catalog) ==
          spec::count_runs(analysis::why_not_counted(home.rows, named, home.catalog)));
    const std::vector<catalog::RunRow> last(home.rows.end() - 1, home.rows.end());
    CHECK(analysis::why_not_counted_of(last, "recipe=tiny", {}, named, home.catalog).front() ==
          analysis::why_not_counted(home.rows, named, home.catalog).back());
    check_compare(home, named, n);
    check_rank(home, named, n);
    check_report(home, named, n);
    check_judged(home, named, n);
    // Power and studies know nothing of what a selection names.
    const std::uint64_t plain =
        spec::count_runs(analysis::why_not_counted(home.rows, {}, home.catalog)).counted;
    CHECK(analysis::study_power(recipe, {{{}, 1U, 1}, {{}, 2U, 1}}, &home.catalog, {}).counted ==
          plain);
    if (seed % 2 == 1)
      CHECK(spec::count_runs(analysis::why_not_counted(home.study)).counted == plain);
  }
  WARN(runs << " runs in " << catalogs << " catalogs, " << counted << " of them count");
  CHECK(copies > 10);
  CHECK(counted > runs / 5);
  CHECK(counted < runs);
}

TEST_CASE("counted runs: the reason is one, and a name makes a run count that ended well") {
  using analysis::why_not_counted;
  const std::vector<std::string> hybrid{"explain", "hybrid-0123456789abcdef"};
  CHECK(why_not_counted({RunState::ok, {}, ""}, false, false).empty());
  CHECK(why_not_counted({RunState::ok, {}, "0"}, false, false).empty());
  CHECK(why_not_counted({RunState::imported, {}, ""}, false, false).empty());
  CHECK(why_not_counted({RunState::failed, {"asset:x"}, "1"}, true, true) == "only made an asset");
  CHECK(why_not_counted({RunState::failed, hybrid, "1"}, false, false) == "made by explain");
  CHECK(why_not_counted({RunState::ok, hybrid, "1"}, false, false) == "made by explain");
  CHECK(why_not_counted({RunState::ok, hybrid, "1"}, true, false) == "perturbed");
  CHECK(why_not_counted({RunState::ok, hybrid, "1"}, true, true).empty());
  CHECK(why_not_counted({RunState::ok, {"hybrid-model"}, ""}, false, false).empty());
}

TEST_CASE(
    "counted runs: a failed run whose point was run again is retried, in a study and in lists") {
  const test::TempHome home;
  home::Folders folders;
  folders.home = home.path();
  const std::string study = "tiny-20261120-103200-abcdef";
  const home::StudyFiles files(folders.studies() / study);
  fs::create_directories(files.directory());
  std::vector<catalog::RunRow> rows;
  const auto add = [&](std::size_t point, RunState state) {
    catalog::RunRow& row = rows.emplace_back();
    row.id = fmt::format("tiny-20261120-1032{:02}-abcdefgh", rows.size());
    row.state = state;
    row.study = study;
    row.directory = (folders.runs() / row.id).string();
    fs::create_directories(row.directory);
    spec::RunStatus status;
    status.state = state;
    home::RunFiles(row.directory).write_status(status);
    files.add_run({point, row.id});
  };
  add(0, RunState::ok);
  add(1, RunState::failed);
  add(2, RunState::failed);
  add(1, RunState::interrupted);
  add(1, RunState::ok);
  add(1, RunState::failed);
  files.add_run({2, "tiny-20261120-103259-abcdefgh"});  // cut off while it was planned
  const catalog::Catalog catalog(home / "catalog.db");
  const std::vector<std::string> reasons = analysis::why_not_counted(rows, {}, catalog);
  CHECK(reasons == std::vector<std::string>{"", "retried", "failed", "retried", "", "retried"});
  spec::StudyPlan plan;
  plan.study_id = study;
  plan.points.resize(3);
  base::write_file_atomically(files.directory() / "study.json",
                              base::pretty_json(spec::to_json(plan)));
  const analysis::StudyOutcome outcome = analysis::look_at_study(files, folders);
  CHECK(spec::count_runs(analysis::why_not_counted(outcome)) == spec::count_runs(reasons));
  CHECK(spec::count_text(spec::count_runs(reasons)) ==
        "2 of 6 runs count; left out: 1 failed, 3 retried");
  // A run that is named by itself is asked for.
  NamedRuns named;
  named.add_selection(rows[1].id, {rows[1]}, catalog);
  CHECK(analysis::why_not_counted({rows[1]}, named, catalog) == std::vector<std::string>{"failed"});
  const auto judged = app::check_runs({rows[1]}, {}, catalog);
  CHECK(judged.verdict == spec::Verdict::inconclusive);  // nothing to judge, and no FAIL
}

TEST_CASE("counted runs: of copies of one execution one counts") {
  std::vector<analysis::Executed> executed;
  const auto add = [&](const std::vector<std::string>& made_by) {
    spec::RunRecord record = test::full_record();
    record.run_id = fmt::format("tiny-{}", executed.size());
    record.recipe_text = recipe_text;
    record.metrics.clear();
    record.stages.clear();
    for (const char* name : {"prepare", "one"}) {
      spec::StageRecord& stage = record.stages.emplace_back();
      stage.name = name;
      stage.made_by_run = made_by[record.stages.size() - 1];
      stage.state = stage.made_by_run.empty() ? "ok" : "reused";
      spec::MetricSummary& metric = record.metrics.emplace_back();
      metric.stream = name;
      metric.name = record.stages.size() == 1 ? "rows" : "loss";  // the recipe declares loss
    }
    executed.push_back({record.run_id, spec::executed_by(record)});
  };
  add({"tiny-1", "tiny-1"});  // its clock was behind
  add({"", ""});
  add({"tiny-1", ""});
  add({"", "tiny-1"});
  add({"tiny-1", "tiny-2"});
  add({"gone", "gone"});
  add({"", "gone"});
  const std::string copy = "copied from the cache";
  std::vector<std::string> reasons(executed.size());
  analysis::mark_copies(executed, reasons);
  CHECK(reasons == std::vector<std::string>{copy, "", "", copy, copy, "", copy});
  // A run that does not count lends its place to its oldest copy.
  reasons = {"", "failed", "", "", "", "", ""};
  analysis::mark_copies(executed, reasons);
  CHECK(reasons == std::vector<std::string>{"", "failed", "", copy, copy, "", copy});
}

TEST_CASE("counted runs: what is named is what the words say") {
  const test::TempHome home;
  const catalog::Catalog catalog(home / "catalog.db");
  catalog::RunRow row;
  row.id = "tiny-1";
  const auto named = [&](const std::string& selection) {
    NamedRuns result;
    result.add_selection(selection, {row}, catalog);
    return result;
  };
  CHECK(named("@last").ids.contains("tiny-1"));
  CHECK(named("tiny").ids.contains("tiny-1"));
  for (const char* many : {"", "recipe=tiny", "@last~3..@last"})
    CHECK(named(many).ids.empty());
  CHECK(named("recipe=tiny,tag=hybrid-*").hybrids);
  CHECK(named("tag=explain").hybrids);
  CHECK_FALSE(named("note=tag=explain").hybrids);
  CHECK(named("perturb_1ulp=*").perturbed);
  CHECK(named("seed=1,param.perturb_1ulp=3").perturbed);
  CHECK_FALSE(named("note=perturb_1ulp").perturbed);
  // Not those that a selection leaves out; wherever else the words stand.
  CHECK(named("recipe=tiny,(seed=1 or tag=explain)").hybrids);
  CHECK_FALSE(named("tag!=explain").hybrids);
  CHECK(named("perturb_1ulp>=1").perturbed);
  CHECK(named("recipe=tiny,@last").ids.contains("tiny-1"));
}

TEST_CASE("counted runs: how many count is one sentence") {
  CHECK(spec::count_text(spec::count_runs({""})) == "the run counts");
  CHECK(spec::count_text(spec::count_runs({"", ""})) == "all 2 runs count");
  CHECK(spec::count_text(spec::count_runs({"", "failed", "made by explain", "failed"})) ==
        "1 of 4 runs count; left out: 2 failed, 1 made by explain");
}
