#include "support/errors.hpp"
#include "support/variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/planning/node_slots.hpp>

#include <catch2/catch.hpp>

#include <set>

using namespace sabath;
using Catch::Contains;
using planning::Division;
using planning::NodeCapacity;
using planning::RunNeeds;

namespace {

/// Four cores of two hardware threads each, as x86 numbers them, and two GPUs.
NodeCapacity node() {
  return {{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, {"GPU-a", "GPU-b"}, 8ULL << 30U};
}

std::string refusal(const RunNeeds& needs, int jobs) {
  return test::error_of([&] { planning::divide(node(), needs, jobs); }).what();
}

}  // namespace

TEST_CASE("slots: one run at a time has all and is not bound") {
  CHECK(planning::divide(node(), {2, 1, 0}, 1) == Division{1, 0, 0});
  planning::NodeSlots slots(node(), {});
  CHECK(slots.take() == spec::ResourceSlots{});
}

TEST_CASE("slots: as many as fit, by what is scarcest") {
  CHECK(planning::divide(node(), {1, 0, 0}, 0) == Division{4, 1, 0});
  CHECK(planning::divide(node(), {1, 1, 0}, 0) == Division{2, 1, 1});
  CHECK(planning::divide(node(), {1, 0, 3ULL << 30U}, 0) == Division{2, 1, 0});
  CHECK(planning::divide(node(), {3, 0, 0}, 0).jobs == 1);
  CHECK(planning::divide(node(), {64, 0, 0}, 0).jobs == 1);
}

TEST_CASE("slots: where the recipe says nothing the cores are divided evenly") {
  CHECK(planning::divide(node(), {}, 2) == Division{2, 2, 0});
  CHECK(planning::divide(node(), {}, 3) == Division{3, 1, 0});
  CHECK_THAT(refusal({}, 0), Contains("no stage of the recipe declares how many cpus"));
}

TEST_CASE("slots: what does not fit is refused with what there is") {
  CHECK_THAT(refusal({2, 0, 0}, 3),
             Contains("--jobs 3") && Contains("2 core(s)") && Contains("4 core(s), 2 GPU(s)"));
  CHECK_THAT(refusal({1, 1, 0}, 3), Contains("1 GPU(s)"));
  CHECK_THAT(refusal({}, 5), Contains("--jobs 5"));
}

TEST_CASE("slots: runs get whole cores and GPUs of their own, and give them back") {
  planning::NodeSlots slots(node(), planning::divide(node(), {2, 1, 0}, 2));
  const auto first = slots.take();
  const auto second = slots.take();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first == spec::ResourceSlots{{0, 4, 1, 5}, {"GPU-a"}});
  CHECK(*second == spec::ResourceSlots{{2, 6, 3, 7}, {"GPU-b"}});
  CHECK_FALSE(slots.take());
  slots.give_back(*first);
  CHECK(slots.take() == first);
}

TEST_CASE("slots: what a run that is there already has is not given away") {
  planning::NodeSlots slots(node(), planning::divide(node(), {1, 0, 0}, 0));
  slots.occupy({{5}, {"GPU-a"}});  // one thread of a core takes all of it
  std::set<int> given;
  while (const auto place = slots.take())
    given.insert(place->cpus.begin(), place->cpus.end());
  CHECK(given == std::set<int>{0, 2, 3, 4, 6, 7});
}

TEST_CASE("slots: a run needs what its stages need one after the other") {
  const auto recipe = spec::parse_recipe(R"({
    "schema": 1, "name": "toy",
    "stages": [
      {"name": "a", "run": ["true"], "resources": {"cpus": 4, "memory": "1 GiB"}},
      {"name": "b", "run": ["true"], "resources": {"cpus": 2, "tasks": 3, "gpus": 1}}
    ]
  })",
                                         "toy.json");
  CHECK(planning::needs_of(recipe) == RunNeeds{6, 1, 1ULL << 30U});
}

TEST_CASE("slots: the GPUs of a run are those that its stages see") {
  const test::Variables none({{"CUDA_VISIBLE_DEVICES", ""},
                              {"CUDA_DEVICE_ORDER", ""},
                              {"ROCR_VISIBLE_DEVICES", ""},
                              {"HIP_VISIBLE_DEVICES", ""}});
  spec::PlannedStage first;
  spec::PlannedStage second;
  using Names = std::vector<std::string>;
  CHECK_FALSE(planning::gpus_of({first}).names);
  const test::Variables two({{"CUDA_VISIBLE_DEVICES", "0,2"}, {"CUDA_DEVICE_ORDER", ""}});
  CHECK(planning::gpus_of({first}).names == Names{"0", "2"});
  CHECK_FALSE(planning::gpus_of({first}).by_bus);
  second.environment = {{"CUDA_VISIBLE_DEVICES", "GPU-a,0"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  CHECK(planning::gpus_of({first, second}).names == Names{"0", "2", "GPU-a"});
  CHECK_FALSE(planning::gpus_of({first, second}).by_bus);
  CHECK(planning::gpus_of({second}).by_bus);
  first.not_due = "task";
  CHECK(planning::gpus_of({first, second}).names == Names{"GPU-a", "0"});
  const test::Variables hidden({{"CUDA_VISIBLE_DEVICES", "-1"}, {"CUDA_DEVICE_ORDER", ""}});
  CHECK(planning::gpus_of({spec::PlannedStage()}).names == Names{});
}

TEST_CASE("slots: a part has so many CPUs, of whole cores where that comes out even") {
  using Cpus = std::vector<int>;
  CHECK(planning::part_of(node(), 2, 0)->cpus == Cpus{0, 4});
  CHECK(planning::part_of(node(), 4, 1)->cpus == Cpus{0, 4, 1, 5});
  CHECK(planning::part_of(node(), 4, 1)->gpus == std::vector<std::string>{"GPU-a"});
  CHECK(planning::part_of(node(), 3, 0)->cpus == Cpus{0, 4, 1});
  CHECK(planning::part_of(node(), 8, 2)->cpus.size() == 8);
  CHECK(planning::part_of(node(), 0, 1)->cpus.empty());
  CHECK_FALSE(planning::part_of(node(), 9, 0));
  CHECK_FALSE(planning::part_of(node(), 1, 3));
}
