#include "support/stage_left.hpp"

#include <sabath/base/error.hpp>
#include <sabath/collect/follow.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <fstream>
#include <random>
#include <tuple>

using namespace sabath;
using namespace std::chrono_literals;
using test::metric_from;

namespace {

namespace fs = std::filesystem;
using Points = std::map<std::string, std::vector<base::SeriesPoint>>;

auto fields_of(const base::SeriesPoint& point) {
  return std::tuple(point.rank,
                    point.step,
                    point.epoch,
                    std::bit_cast<std::uint64_t>(point.value),
                    std::isnan(point.time_s) ? -1 : point.time_s,
                    point.rest);
}

/// All points in a comparable form. MemorySink makes a new series at each open.
auto comparable(const Points& points) {
  std::map<std::string, std::vector<decltype(fields_of({}))>> result;
  for (const auto& [name, list] : points) {
    for (const base::SeriesPoint& point : list)
      result[name].push_back(fields_of(point));
  }
  return result;
}

/// A stage "train" that runs.
class Running {
 public:
  explicit Running(std::vector<spec::MetricSpec> metrics = {})
      : declared(std::move(metrics)), follower(files(), declared, 0ms) {
    base::make_directories(home_ / "own/work");
  }

  collect::StageFiles files() const { return {"train", home_ / "own", home_ / "outputs"}; }
  fs::path operator/(const std::string& name) const { return home_.path() / "own" / name; }
  void append(const std::string& name, std::string_view text) const {
    base::make_directories((*this / name).parent_path());
    std::ofstream(*this / name, std::ios::binary | std::ios::app) << text;
  }
  collect::Followed more() {
    return follower.more(sink, [this] {
      sink.points.clear();
      ++forgotten;
    });
  }
  std::vector<double> values(const std::string& name) const {
    std::vector<double> result;
    const auto found = sink.points.find("train/" + name);
    if (found == sink.points.end()) return result;
    for (const base::SeriesPoint& point : found->second)
      result.push_back(point.value);
    return result;
  }

 private:
  test::TempHome home_{};

 public:
  std::vector<spec::MetricSpec> declared;
  collect::SeriesFollower follower;
  test::MemorySink sink{};
  int forgotten = 0;
};

std::string data_file(const std::string& name) {
  return base::read_file(fs::path(SABATH_TEST_DATA) / "collect" / name);
}

std::string lines_of(const std::function<std::string(int)>& line) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += line(i);
  return text;
}

std::string number(int i) {
  return std::to_string(1.0 / (i + 1));
}

struct Growth {
  std::string name;
  std::string text;
  std::vector<spec::MetricSpec> metrics;
};

std::vector<Growth> growths() {
  using Kind = spec::SourceKind;
  const std::string step_lines =
      lines_of([](int i) {
        return (i % 7 == 0 ? "epoch " + std::to_string(i / 7) + "\n" : "") + "loss: " + number(i) +
               (i % 2 == 0 ? "\r" : "\n");
      }) +
      "end\n";
  const std::string jsonl = lines_of([](int i) {
    return R"({"step": )" + std::to_string(i) + R"(, "loss": )" + number(i) + "}\n";
  });
  return {
      {"metrics-0.jsonl", jsonl, {}},
      {"metrics-3.jsonl", jsonl + "no JSON\n\n" + jsonl, {}},
      {"stdout.log", "text\n" + jsonl, {metric_from("l", Kind::jsonl, {}, "stdout", "loss")}},
      {"stdout.log", step_lines, {metric_from("loss", Kind::key_value)}},
      {"stdout.log",
       step_lines,
       {metric_from("l", Kind::regex, R"(epoch (?<epoch>\d+)|loss: (?<value>\S+))")}},
      {"work/log.csv",
       "epoch;loss\r\n" + lines_of([](int i) {
         return std::to_string(i) + ";" + number(i) + "\r\n";
       }) + "epoch;loss\r\n7;8\r\n",
       {metric_from("loss", Kind::csv, {}, "log.csv")}},
      {"stdout.log",
       lines_of([](int i) {
         return R"(:::MLLOG {"time_ms": )" + std::to_string(1000 * i) +
                R"(, "event_type": "POINT_IN_TIME", "key": "eval", "value": )" + number(i) +
                R"(, "metadata": {"epoch_num": )" + std::to_string(i) + "}}\n" +
                R"(:::MLLOG {"time_ms": )" + std::to_string(1000 * i) +
                R"(, "event_type": "INTERVAL_)" + (i % 2 == 0 ? "START" : "END") +
                R"(", "key": "block", "value": null, "metadata": {"epoch_num": 3}})" + "\n";
       }),
       {}},
      {"work/x/events.out.tfevents.1",
       data_file("x.tfevents"),
       {metric_from("loss/train", Kind::tensorboard)}},
  };
}

}  // namespace

TEST_CASE("follow: a file that grows by any pieces gives the points of the complete file, once") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  for (const Growth& growth : growths()) {
    CAPTURE(growth.name, growth.text.substr(0, 60), seed);
    Running stage(growth.metrics);
    std::mt19937 random(seed);
    for (std::size_t at = 0; at < growth.text.size();) {
      const std::size_t size = 1 + random() % 90;
      stage.append(growth.name, std::string_view(growth.text).substr(at, size));
      at += size;
      stage.more();
    }
    test::MemorySink whole;
    const auto extraction = collect::extract_all(stage.files(), stage.declared, whole);
    REQUIRE(extraction.points > 2);
    CHECK(comparable(stage.sink.points) == comparable(whole.points));
    CHECK(stage.forgotten == 0);
    CHECK(stage.more().points == 0);
  }
}

TEST_CASE("follow: half a line is passed when it is complete") {
  Running stage;
  CHECK(stage.more().points == 0);
  stage.append("metrics-0.jsonl", R"({"step": 1, "loss": 0.5}
{"step": 2, "lo)");
  CHECK(stage.more().points == 1);
  CHECK(stage.more().points == 0);
  stage.append("metrics-0.jsonl", "ss\": 0.25}");
  CHECK(stage.more().points == 0);
  stage.append("metrics-0.jsonl", "\n");
  CHECK(stage.more().points == 1);
  CHECK(stage.values("loss") == std::vector{0.5, 0.25});
}

TEST_CASE("follow: a line that cannot be read is counted once") {
  Running stage;
  stage.append("metrics-0.jsonl", "{\"loss\": 1}\nnonsense\n");
  CHECK(stage.more().bad_lines == 1);
  stage.append("metrics-0.jsonl", "{\"loss\": 2}\n");
  const auto followed = stage.more();
  CHECK(followed.bad_lines == 0);
  CHECK(followed.points == 1);
}

TEST_CASE("follow: a file that shrank, or was replaced, begins anew") {
  Running stage;
  stage.append("metrics-0.jsonl", "{\"loss\": 1}\n{\"loss\": 2}\n");
  stage.append("metrics-1.jsonl", "{\"loss\": 7}\n");
  CHECK(stage.more().points == 3);
  SECTION("shrank") {
    std::ofstream(stage / "metrics-0.jsonl") << "{\"loss\": 3}\n";
  }
  SECTION("replaced by a longer one") {
    base::write_file_atomically(stage / "metrics-0.jsonl",
                                "{\"loss\": 3}\n                              \n");
  }
  CHECK(stage.more().points == 2);
  CHECK(stage.forgotten == 1);
  CHECK(stage.values("loss") == std::vector{3.0, 7.0});
  CHECK(stage.more().points == 0);
  CHECK(stage.forgotten == 1);
}

TEST_CASE("follow: a file that vanishes takes its points with it") {
  Running stage;
  stage.append("metrics-0.jsonl", "{\"loss\": 1}\n");
  stage.append("metrics-1.jsonl", "{\"loss\": 2}\n");
  CHECK(stage.more().points == 2);
  fs::remove(stage / "metrics-0.jsonl");
  stage.more();
  CHECK(stage.values("loss") == std::vector{2.0});
  fs::remove_all(stage / "");
  CHECK(stage.more().points == 0);
  CHECK(stage.forgotten == 2);
}

TEST_CASE("follow: ranks of a pattern are numbered as in the complete stage") {
  Running stage({metric_from("loss", spec::SourceKind::csv, {}, "*.csv")});
  stage.append("work/b.csv", "loss\n1\n");
  CHECK(stage.more().points == 1);
  stage.append("work/c.csv", "loss\n2\n");
  CHECK(stage.more().points == 1);
  CHECK(stage.forgotten == 0);
  // Files behind it get another rank.
  stage.append("work/a.csv", "loss\n3\n");
  stage.more();
  CHECK(stage.more().points == 3);
  CHECK(stage.forgotten == 1);
  test::MemorySink whole;
  collect::extract_all(stage.files(), stage.declared, whole);
  CHECK(comparable(stage.sink.points) == comparable(whole.points));
}

TEST_CASE("follow: a line without an end is passed over once") {
  Running stage;
  stage.append("metrics-0.jsonl", "{\"loss\": 1}\n{\"x\": " + std::string(2U << 20U, '1'));
  const auto first = stage.more();
  CHECK(first.points == 1);
  CHECK(first.bad_lines == 1);
  stage.append("metrics-0.jsonl", std::string(2U << 20U, '1'));
  CHECK(stage.more().bad_lines == 0);
  stage.append("metrics-0.jsonl", "}\n{\"loss\": 2}\n");
  const auto last = stage.more();
  CHECK(last.points == 1);
  CHECK(last.bad_lines == 0);
  CHECK(stage.values("loss") == std::vector{1.0, 2.0});
}

TEST_CASE("follow: each call may have its own sink") {
  Running stage;
  stage.append("metrics-0.jsonl", "{\"a\": 1, \"b\": 2}\n");
  stage.more();
  stage.append("metrics-0.jsonl", "{\"b\": 3}\n");
  test::MemorySink other;
  CHECK(stage.follower.more(other).points == 1);
  CHECK(other.points.size() == 1);
  CHECK(other.points.at("train/b").at(0).value == 3);
}

TEST_CASE("follow: a metric that is declared for another kind is not taken from JSON lines") {
  Running stage({metric_from("loss", spec::SourceKind::key_value)});
  stage.append("metrics-0.jsonl", "{\"loss\": 1, \"other\": 2}\n");
  stage.append("stdout.log", "loss=5\n");
  CHECK(stage.more().points == 2);
  CHECK(stage.values("loss") == std::vector{5.0});
  CHECK(stage.values("other") == std::vector{2.0});
}

TEST_CASE("follow: what is not a regular file is refused, and does not block") {
  Running stage;
  fs::create_directory(stage / "metrics-0.jsonl");
  CHECK_THROWS_AS(stage.more(), base::Error);
}
