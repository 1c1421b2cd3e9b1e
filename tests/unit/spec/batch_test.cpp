#include <sabath/spec/batch.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Texts = std::vector<std::string>;

namespace {

spec::BatchPlan batch_of(std::size_t runs, int pack) {
  spec::BatchPlan plan;
  for (std::size_t i = 1; i <= runs; ++i)
    plan.runs.push_back("r" + std::to_string(i));
  plan.pack = pack;
  return plan;
}

}  // namespace

TEST_CASE("batch: each task has its runs, in their order, and the last one the rest") {
  const auto plan = batch_of(7, 3);
  CHECK(plan.tasks() == 3);
  CHECK(plan.runs_of(1) == Texts{"r1", "r2", "r3"});
  CHECK(plan.runs_of(3) == Texts{"r7"});
  CHECK(plan.runs_of(0).empty());
  CHECK(plan.runs_of(4).empty());
  CHECK(plan.task_of("r3") == 1);
  CHECK(plan.task_of("r4") == 2);
  CHECK(plan.task_of("r7") == 3);
  CHECK(plan.task_of("other") == 0);
}

TEST_CASE("batch: every run has exactly one task, whatever is packed") {
  for (std::size_t runs = 1; runs < 20; ++runs) {
    for (int pack = 1; pack < 22; ++pack) {
      const auto plan = batch_of(runs, pack);
      Texts all;
      for (std::size_t task = 1; task <= plan.tasks(); ++task) {
        const auto mine = plan.runs_of(task);
        REQUIRE_FALSE(mine.empty());
        for (const auto& run : mine)
          REQUIRE(plan.task_of(run) == task);
        all.insert(all.end(), mine.begin(), mine.end());
      }
      REQUIRE(all == plan.runs);
    }
  }
}

TEST_CASE("batch: one without runs, or that packs nothing, still has one task") {
  CHECK(batch_of(0, 1).tasks() == 1);
  CHECK(batch_of(0, 1).runs_of(1).empty());
  CHECK(batch_of(2, 0).tasks() == 2);
  CHECK(batch_of(2, -1).runs_of(2) == Texts{"r2"});
}
