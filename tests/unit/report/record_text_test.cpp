#include "support/errors.hpp"
#include "support/golden.hpp"
#include "unit/report/plain_text.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>

#include <limits>

using namespace sabath;
using test::contains;
using test::golden;

namespace {

/// A run whose second stage failed after a first one was reused.
spec::RunRecord failed_record() {
  spec::RunRecord record = test::full_record();
  record.state = spec::RunState::failed;
  record.message = "stage train: /usr/bin/python3 exited with status 1";
  record.stages.front().state = "reused";
  record.stages.front().name = "simulate";
  record.stages.front().made_by_run = "tiny-20261119-080000-zyxwvuts";
  spec::StageRecord train;
  train.name = "train";
  train.state = "failed";
  train.wall_s = 75;
  train.user_s = 140;
  train.max_rss_bytes = 3ULL << 30U;
  train.exit_code = 1;
  train.log_tail =
      "Traceback (most recent call last):\n  File \"train.py\", line 3\nValueError: no";
  spec::StageRecord skipped;
  skipped.name = "score";
  skipped.state = "skipped";
  record.stages.push_back(train);
  record.stages.push_back(skipped);
  record.seed = {7U, "drawn"};
  record.metrics.front().not_finite = 1;
  record.metrics.front().last = std::numeric_limits<double>::quiet_NaN();
  return record;
}

const std::string evil = "\x1b[2J\x07\r\xff";

/// A record in which every text from outside is hostile.
spec::RunRecord evil_record() {
  spec::RunRecord record = failed_record();
  for (std::string* text : {&record.run_id,
                            &record.message,
                            &record.recipe_name,
                            &record.model,
                            &record.started,
                            &record.energy,
                            &record.reproduce,
                            &record.sabath_version,
                            &record.inputs.front().asset,
                            &record.environment.layers.front().lock.name,
                            &record.tags.front(),
                            &record.facets.front().name,
                            &record.outputs.front().path,
                            &record.metrics.front().name,
                            &record.metrics.front().unit})
    *text = evil;
  record.parameters = {{evil, evil}};
  for (spec::StageRecord& stage : record.stages) {
    stage.name = stage.state = stage.log_tail = stage.made_by_run = evil;
    stage.leftovers = 1;
  }
  return record;
}

}  // namespace

TEST_CASE("report: the record of a run that ended well") {
  const std::string text = report::record_text(test::full_record());
  CHECK(text == golden("report/record-ok.txt", text));
}

TEST_CASE("report: the record of a run that failed, with the end of its log") {
  const std::string text = report::record_text(failed_record());
  CHECK(text == golden("report/record-failed.txt", text));
}

TEST_CASE("report: how a run ended, in a few lines") {
  const std::string ok = report::outcome_text(test::full_record());
  CHECK(ok == golden("report/outcome-ok.txt", ok));
  spec::RunRecord timed = test::full_record();
  spec::MetricSummary& metric = timed.metrics.front();
  metric.performance = true;
  metric.points = 6;
  metric.median = 1.5;
  metric.unit = "s";
  CHECK(contains(report::outcome_text(timed), "one/loss  1.5 s, median\n"));
  const std::string failed = report::outcome_text(failed_record());
  CHECK(failed == golden("report/outcome-failed.txt", failed));
}

TEST_CASE("report: a record shows the value that a metric is judged by") {
  spec::RunRecord record = test::full_record();
  spec::MetricSummary& metric = record.metrics.front();
  metric.judge = "mean of last 3";
  metric.judged = 0.375;
  CHECK(contains(report::record_text(record), "judged by"));
  CHECK(contains(report::record_text(record), "mean of last 3 0.375"));
  CHECK(contains(report::outcome_text(record), "0.5 -> 0.25, mean of last 3 0.375\n"));
  CHECK_FALSE(contains(report::record_text(test::full_record()), "judged by"));
}

TEST_CASE("report: a host with everything, and one of which little is known") {
  const std::string full = report::host_text(test::full_host());
  CHECK(full == golden("report/host-full.txt", full));
  spec::HostFacts bare;
  bare.node = "node2";
  bare.gpu_reason = "no driver";
  const std::string text = report::host_text(bare);
  CHECK(text == golden("report/host-bare.txt", text));
}

TEST_CASE("report: what a record names is made safe for a terminal") {
  spec::RunRecord record = evil_record();
  const std::string text = report::record_text(record);
  CHECK(test::is_plain(text));
  CHECK(contains(text, "\\x1b[2J\\x07"));
  CHECK(test::is_plain(report::outcome_text(record)));
  record.state = spec::RunState::ok;
  const std::string ended = report::outcome_text(record);
  CHECK(test::is_plain(ended));
  CHECK(contains(ended, "\\x1b[2J\\x07"));
}

TEST_CASE("report: what a host names is made safe for a terminal") {
  spec::HostFacts facts = test::full_host();
  for (std::string* text : {&facts.node,
                            &facts.cpu.model,
                            &facts.cpu.microcode,
                            &facts.gpus.front().name,
                            &facts.gpus.front().driver,
                            &facts.devices.front().kind,
                            &facts.devices.front().name,
                            &facts.devices.front().model,
                            &facts.os,
                            &facts.kernel,
                            &facts.blas,
                            &facts.virtualization,
                            &facts.governor})
    *text = evil;
  facts.compilers = {{evil, evil}};
  facts.cpu.caches_bytes = {{evil, 1}};
  const std::string text = report::host_text(facts);
  CHECK(test::is_plain(text));
  CHECK(contains(text, "\\x1b[2J\\x07"));
}

TEST_CASE("report: a record without metrics, outputs or hosts has no empty tables") {
  spec::RunRecord record = test::full_record();
  record.metrics.clear();
  record.outputs.clear();
  record.hosts.clear();
  const std::string text = report::record_text(record);
  CHECK(!contains(text, "\nmetric "));
  CHECK(!contains(text, "\noutput "));
  CHECK(!contains(text, "\nCPU   "));
  CHECK(!contains(text, "\n\n\n"));
}

TEST_CASE("report: on a narrow terminal lines go on below, and digests stay whole") {
  spec::RunRecord record = test::full_record();
  for (int i = 0; i < 20; ++i)
    record.parameters["parameter_" + std::to_string(i)] = std::int64_t{i};
  record.hosts.clear();
  record.metrics.clear();
  record.collected.reset();
  record.energy = "none";
  for (spec::StageRecord& stage : record.stages)
    stage.earlier_attempts.reset();  // all remarks at once are too much for a line
  const std::string text = report::record_text(record, {false, 80});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    INFO(line);
    CHECK(line.size() <= 80);
    at = end + 1;
  }
  CHECK(contains(text, "\n" + std::string(80 - 71, ' ') + record.recipe_digest.text() + "\n"));
  CHECK(contains(text, "\nagain         " + record.reproduce + "\n"));
}

TEST_CASE("report: versions of libraries are shown, all that was loaded only when asked for") {
  spec::RunRecord record = test::full_record();
  record.software->versions["blas in stage train"] = "OpenBLAS 0.3.30";
  record.software->versions["cudnn"] = "9.1.0";
  const std::string path = record.software->libraries.front().path = "/opt/lib/libown.so";
  const std::string text = report::record_text(record);
  CHECK(contains(text, "\ncuDNN         9.1.0\n"));
  CHECK_FALSE(contains(text, path));
  const std::string all = report::record_text(record, {true, 100});
  CHECK(contains(all, path));
  CHECK(contains(all, record.software->notes.front()));
  CHECK(contains(text, "\nBLAS in stage train  OpenBLAS 0.3.30\n"));
}

TEST_CASE("record: where there is room a metric's course is drawn behind its line") {
  spec::RunRecord record = test::full_record();
  report::RecordView view;
  for (int step = 0; step < 100; ++step)
    view.courses["one/loss"].add(step, -step);
  const std::string wide = report::record_text(record, view);
  CHECK(contains(wide, "  ####****++++"));
  CHECK(contains(wide, "----....____\n"));
  view.columns = 60;
  CHECK_FALSE(contains(report::record_text(record, view), "####"));
  view.columns = 100;
  view.letters = report::PlotLetters::blocks;
  CHECK(contains(report::record_text(record, view), "████▇▇▇▇"));
}

TEST_CASE("record text: the last lines of several failed stages stand under their names") {
  spec::RunRecord record = failed_record();
  spec::StageRecord other = record.stages.at(1);
  other.name = "other";
  other.message = "/bin/x is not there";
  other.log_tail = "x: not found";
  record.stages.push_back(other);
  const std::string text = report::outcome_text(record);
  CHECK(contains(text, "stage train\n"));
  CHECK(contains(text, "stage other: /bin/x is not there\n"));
  CHECK(text.find("ValueError") < text.find("stage other"));
  CHECK(text.find("stage other") < text.find("x: not found"));
}

TEST_CASE("record: cores of a job are called shared only where it had several runs") {
  spec::RunRecord record = test::full_record();
  record.repeats.reset();
  record.tags.clear();
  record.facets.push_back({"launch", {{"site", "big"}, {"cpus", "1"}}});
  std::erase_if(record.facets, [](const spec::Facet& facet) {
    return facet.name == "launch" && !facet.items.contains("site");
  });
  record.study_id = "s";
  REQUIRE(record.jobs);
  record.jobs->front().shared = true;
  CHECK(contains(report::why_not_again(record), "a job that several runs shared"));
  record.jobs->front().shared = false;
  CHECK_FALSE(contains(report::why_not_again(record), "shared"));  // one run a job
  CHECK_FALSE(contains(report::why_not_again(record), "shared"));
}
