#include "app/joined_attempts.hpp"

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
  /// Lines of an attempt's rank.
  void write(int attempt, int rank, const std::string& lines) const {
    fs::create_directories(home / std::to_string(attempt));
    base::write_file_atomically(
        home / std::to_string(attempt) / ("metrics-" + std::to_string(rank) + ".jsonl"), lines);
  }
  Given joined(int attempts) {
    collect::StageFiles files{"train", home / std::to_string(attempts), {}, {}};
    for (int i = 1; i < attempts; ++i)
      files.earlier.push_back(home / std::to_string(i));
    Given given;
    told = app::add_earlier(files, {}, given);
    return given;
  }

  test::TempHome home{};
  std::vector<std::string> told{};
};

std::string steps(const std::string& metric, int from, int to, const std::string& key = "step") {
  std::string lines;
  for (int i = from; i <= to; ++i)
    lines += R"({")" + key + R"(": )" + std::to_string(i) + R"(, ")" + metric +
             R"(": 0.5})"
             "\n";
  return lines;
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("attempts: what was done once more counts once, each rank for itself") {
  Attempts attempts;
  attempts.write(1, 0, steps("loss", 1, 6));
  attempts.write(1, 1, steps("loss", 1, 4));
  attempts.write(2, 0, steps("loss", 4, 9));
  attempts.write(2, 1, steps("loss", 4, 8));
  const Given given = attempts.joined(2);
  CHECK(given.steps == std::map<std::string, Steps>{{"loss/0", {1, 2, 3}}, {"loss/1", {1, 2, 3}}});
  CHECK(attempts.told.empty());
}

TEST_CASE("attempts: of several each gives what none after it did") {
  Attempts attempts;
  attempts.write(1, 0, steps("loss", 1, 8));
  attempts.write(2, 0, steps("loss", 6, 9));
  attempts.write(3, 0, steps("loss", 4, 12));
  CHECK(attempts.joined(3).steps == std::map<std::string, Steps>{{"loss/0", {1, 2, 3}}});
  attempts.write(3, 0, steps("loss", 8, 12));
  CHECK(attempts.joined(3).steps ==
        std::map<std::string, Steps>{{"loss/0", {1, 2, 3, 4, 5, 6, 7}}});
  // One that began anew takes nothing over.
  attempts.write(3, 0, steps("loss", 1, 12));
  CHECK(attempts.joined(3).steps.empty());
}

TEST_CASE("attempts: what a later one did not report stays and half a line is passed by") {
  Attempts attempts;
  attempts.write(
      1, 0, steps("warm", 1, 2) + steps("accuracy", 1, 3, "epoch") + R"({"step": 3, "lo)");
  attempts.write(2, 0, steps("accuracy", 3, 5, "epoch"));
  CHECK(attempts.joined(2).steps ==
        std::map<std::string, Steps>{{"accuracy/0", {1, 2}}, {"warm/0", {1, 2}}});
}

TEST_CASE("attempts: values without steps are the last attempt's, which is told") {
  Attempts attempts;
  attempts.write(1,
                 0,
                 R"({"score": 1})"
                 "\n"
                 R"({"first": 2})"
                 "\n");
  attempts.write(2,
                 0,
                 R"({"score": 3})"
                 "\n");
  CHECK(attempts.joined(2).steps == std::map<std::string, Steps>{{"first/0", {-1}}});
  REQUIRE(attempts.told.size() == 1);
  CHECK(attempts.told[0].find("'score' has values without steps") != std::string::npos);
}
