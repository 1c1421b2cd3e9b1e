#include "execution/record/joined_attempts.hpp"

#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <map>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

/// What was given: "metric/rank" -> steps, in their order.
class Given final : public base::SeriesSink {
 public:
  base::SeriesId open(std::string_view, std::string_view metric) override {
    names_.emplace_back(metric);
    return static_cast<base::SeriesId>(names_.size() - 1);
  }
  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    const std::string name = names_[static_cast<std::size_t>(series)];
    const auto place = point.step != base::no_step ? point.step : point.epoch;
    steps[name + "/" + std::to_string(point.rank)].push_back(place == base::no_step ? -1 : place);
  }

  std::map<std::string, std::vector<std::int64_t>> steps{};

 private:
  std::vector<std::string> names_{};
};

struct Attempts {
  /// A file of an attempt's folder.
  void put(int attempt, const std::string& name, const std::string& text) const {
    const fs::path file = home / std::to_string(attempt) / name;
    fs::create_directories(file.parent_path());
    base::write_file_atomically(file, text);
  }
  /// Lines of an attempt's rank.
  void write(int attempt, int rank, const std::string& lines) const {
    fs::create_directories(home / std::to_string(attempt) / "work");
    put(attempt, "metrics-" + std::to_string(rank) + ".jsonl", lines);
  }
  Given joined(int attempts) {
    collect::StageFiles files{"train", home / std::to_string(attempts), outputs, {}};
    for (int i = 1; i < attempts; ++i)
      files.earlier.push_back(home / std::to_string(i));
    Given given;
    extraction = execution::extract_joined(files, declared, given);
    return given;
  }
  const std::vector<std::string>& told() const { return extraction.collected.notes; }

  test::TempHome home{};
  fs::path outputs = home / "outputs";
  std::vector<spec::MetricSpec> declared{};
  collect::Extraction extraction{};
};

std::string line(const std::string& members) {
  return "{" + members + "}\n";
}

std::string steps(const std::string& metric, int from, int to, const std::string& key = "step") {
  std::string lines;
  for (int i = from; i <= to; ++i)
    lines += line("\"" + key + "\": " + std::to_string(i) + ", \"" + metric + "\": 0.5");
  return lines;
}

/// Three steps of each epoch, counted anew.
std::string epochs(int from, int to) {
  std::string lines;
  for (int i = from; i <= to; ++i) {
    for (int step = 0; step < 3; ++step)
      lines += line("\"epoch\": " + std::to_string(i) + ", \"step\": " + std::to_string(step) +
                    ", \"loss\": 0.5");
  }
  return lines;
}

spec::MetricSpec column_of(const std::string& file) {
  spec::MetricSpec metric;
  metric.name = "loss";
  metric.from.kind = spec::SourceKind::csv;
  metric.from.file = file;
  return metric;
}

using Steps = std::vector<std::int64_t>;
using All = std::map<std::string, Steps>;

}  // namespace

TEST_CASE("attempts: what was done once more counts once and each rank for itself") {
  Attempts attempts;
  attempts.write(1, 0, steps("loss", 1, 6));
  attempts.write(1, 1, steps("loss", 1, 4));
  attempts.write(2, 0, steps("loss", 4, 7));
  attempts.write(2, 1, steps("loss", 4, 6));
  CHECK(attempts.joined(2).steps ==
        All{{"loss/0", {1, 2, 3, 4, 5, 6, 7}}, {"loss/1", {1, 2, 3, 4, 5, 6}}});
  CHECK(attempts.told().empty());
}

TEST_CASE("attempts: of several each gives what none after it did") {
  Attempts attempts;
  attempts.write(1, 0, steps("loss", 1, 8));
  attempts.write(2, 0, steps("loss", 6, 9));
  attempts.write(3, 0, steps("loss", 4, 6));
  CHECK(attempts.joined(3).steps == All{{"loss/0", {1, 2, 3, 4, 5, 6}}});
  attempts.write(3, 0, steps("loss", 8, 10));
  CHECK(attempts.joined(3).steps == All{{"loss/0", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}});
  // One that began anew takes nothing over.
  attempts.write(3, 0, steps("loss", 1, 2));
  CHECK(attempts.joined(3).steps == All{{"loss/0", {1, 2}}});
}

TEST_CASE(
    "attempts: what a later one did not report is cut where it began and half a line is passed "
    "by") {
  Attempts attempts;
  attempts.write(1,
                 0,
                 steps("loss", 1, 5) + steps("warm", 1, 2) + steps("val", 2, 5) +
                     steps("accuracy", 1, 3, "epoch") + R"({"step": 3, "lo)");
  attempts.write(2, 0, steps("loss", 4, 5) + steps("accuracy", 3, 4, "epoch"));
  CHECK(attempts.joined(2).steps == All{{"accuracy/0", {1, 2, 3, 4}},
                                        {"loss/0", {1, 2, 3, 4, 5}},
                                        {"val/0", {2, 3}},
                                        {"warm/0", {1, 2}}});
  // Ranks that are no more there are of the same course.
  attempts.write(1, 1, steps("loss", 1, 5));
  CHECK(attempts.joined(2).steps["loss/1"] == Steps{1, 2, 3});
}

TEST_CASE("attempts: steps that begin anew in each epoch have their epoch") {
  Attempts attempts;
  attempts.write(1, 0, epochs(0, 2));
  attempts.write(2, 0, epochs(2, 3));
  CHECK(attempts.joined(2).steps == All{{"loss/0", {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}}});
}

TEST_CASE("attempts: points of other kinds are no beginning of these") {
  Attempts attempts;
  attempts.write(1, 0, steps("loss", 11, 16) + line(R"("epoch": 1, "loss": 0.5)"));
  attempts.write(
      2, 0, line(R"("loss": 9)") + line(R"("epoch": 2, "loss": 0.5)") + steps("loss", 14, 17));
  CHECK(attempts.joined(2).steps == All{{"loss/0", {11, 12, 13, 1, -1, 2, 14, 15, 16, 17}}});
}

TEST_CASE("attempts: values without steps are the last attempt's and that is told") {
  Attempts attempts;
  attempts.write(1, 0, line(R"("score": 1)") + line(R"("first": 2)"));
  attempts.write(2, 0, line(R"("score": 3)"));
  CHECK(attempts.joined(2).steps == All{{"first/0", {-1}}, {"score/0", {-1}}});
  REQUIRE(attempts.told().size() == 1);
  CHECK(attempts.told()[0].find("'score' has values without steps") != std::string::npos);
}

TEST_CASE("attempts: a file that all of them write to counts what was done once more once") {
  Attempts attempts;
  attempts.declared = {column_of("log.csv")};
  attempts.write(1, 0, "");
  attempts.write(2, 0, "");
  fs::create_directories(attempts.outputs);
  const auto rows = [&](const std::string& text) {
    base::write_file_atomically(attempts.outputs / "log.csv", "step,loss\n" + text);
  };
  rows("1,1\n2,1\n3,1\n4,1\n5,1\n4,2\n5,2\n6,2\n");
  CHECK(attempts.joined(2).steps == All{{"loss/0", {1, 2, 3, 4, 5, 6}}});
  CHECK(attempts.told().empty());
  // More often than there were attempts: it is another thing that steps back.
  rows("1,1\n2,1\n1,1\n2,1\n1,1\n2,1\n");
  CHECK(attempts.joined(2).steps["loss/0"].size() == 6);
  REQUIRE(attempts.told().size() == 1);
  CHECK(attempts.told()[0].find("steps back more often") != std::string::npos);
}

TEST_CASE(
    "attempts: a file of their own is looked for in their own folders and told where it is gone") {
  Attempts attempts;
  attempts.declared = {column_of("log.csv")};
  attempts.put(1, "work/log.csv", "step,loss\n1,1\n2,1\n3,1\n");
  attempts.put(2, "work/log.csv", "step,loss\n3,1\n4,1\n");
  const fs::path before = fs::current_path();
  attempts.put(3, "log.csv", "step,loss\n-5,777\n");
  fs::current_path(attempts.home / "3");
  CHECK(attempts.joined(2).steps == All{{"loss/0", {1, 2, 3, 4}}});
  fs::remove_all(attempts.home / "1" / "work");
  CHECK(attempts.joined(2).steps == All{{"loss/0", {3, 4}}});
  fs::current_path(before);
  REQUIRE(attempts.told().size() == 1);
  CHECK(attempts.told()[0].find("its work folder is gone") != std::string::npos);
}

TEST_CASE("attempts: speeds are the last one's and what a code told of itself is any one's") {
  Attempts attempts;
  spec::MetricSpec speed;
  speed.name = "speed";
  speed.performance = true;
  attempts.declared = {speed};
  attempts.write(1, 0, steps("speed", 1, 3) + steps("loss", 1, 3));
  attempts.write(2, 0, steps("speed", 3, 4) + steps("loss", 3, 4));
  const std::string head =
      R"(:::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": )";
  attempts.put(1,
               "stdout.log",
               head + R"("seed", "value": 42, "metadata": {}})" + "\n" + head +
                   R"("global_batch_size", "value": 64, "metadata": {}})" + "\n");
  CHECK(attempts.joined(2).steps == All{{"loss/0", {1, 2, 3, 4}}, {"speed/0", {3, 4}}});
  CHECK(attempts.extraction.collected.seeds == std::vector<std::string>{"42"});
  CHECK(attempts.extraction.collected.parameters["global_batch_size"] == "64");
}
