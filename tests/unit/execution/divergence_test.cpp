#include "stop/divergence.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace sabath;
using Catch::Contains;

namespace {

spec::Series series(const std::string& name, const std::vector<double>& values) {
  spec::Series made;
  made.stream = "train";
  made.name = name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    made.rank.push_back(0);
    made.step.push_back(static_cast<std::int64_t>(i) + 1);
    made.epoch.push_back(base::no_step);
    made.value.push_back(values[i]);
    made.time_s.push_back(0);
  }
  return made;
}

execution::FinishedRun finished(const std::vector<double>& values,
                                std::optional<spec::Rung> require = {}) {
  execution::FinishedRun run;
  run.run_id = "toy-1";
  run.series = {series("loss", values)};
  run.rules.metrics.emplace_back().name = "loss";
  run.rules.require = require;
  return run;
}

void feed(execution::Divergence& divergence,
          std::int64_t step,
          double value,
          double rest = 0,
          const std::string& name = "loss") {
  divergence.add(divergence.open("train", name),
                 {0, step, base::no_step, value, std::numeric_limits<double>::quiet_NaN(), rest});
}

}  // namespace

TEST_CASE("divergence: the first step that differs at the required rung is known at once") {
  const auto reference = finished({4, 3, 2, 1});
  execution::Divergence divergence("train", reference);
  CHECK_FALSE(divergence.look());
  feed(divergence, 1, 4);
  feed(divergence, 2, 3 + 1e-12);
  CHECK_FALSE(divergence.look());
  feed(divergence, 3, 2.5);
  CHECK(divergence.look() ==
        "it differs from run toy-1: train/loss diverges at step 3: 2 against 2.5, required: "
        "tolerance");
}

TEST_CASE("divergence: the recipe may require bits") {
  const auto reference = finished({4, 3}, spec::Rung::bitwise);
  execution::Divergence divergence("train", reference);
  feed(divergence, 1, 4 + 1e-14);
  CHECK_THAT(divergence.look().value_or(""), Contains("required: bitwise"));
}

TEST_CASE("divergence: whole numbers that no double holds count with all digits") {
  auto reference = finished({9007199254740992.0}, spec::Rung::bitwise);
  reference.rests["train/loss"] = {1};
  execution::Divergence equal("train", reference);
  feed(equal, 1, 9007199254740992.0, 1);
  CHECK_FALSE(equal.look());
  execution::Divergence other("train", reference);
  feed(other, 1, 9007199254740992.0);
  CHECK(other.look());
}

TEST_CASE("divergence: points that are taken back do not count") {
  const auto reference = finished({4, 3});
  execution::Divergence divergence("train", reference);
  feed(divergence, 1, 9);
  divergence.forget();
  feed(divergence, 1, 4);
  CHECK_FALSE(divergence.look());
}

TEST_CASE("divergence: undeclared metrics do not stop a run") {
  auto reference = finished({4});
  reference.series.push_back(series("free", {1}));
  execution::Divergence divergence("train", reference);
  feed(divergence, 1, 2, 0, "free");
  CHECK_FALSE(divergence.look());
}
