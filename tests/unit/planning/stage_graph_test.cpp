#include <sabath/planning/stage_graph.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using planning::NodeCapacity;
using planning::StageGraph;
using Names = std::vector<std::string>;
using Stages = std::vector<spec::PlannedStage>;

namespace {

spec::PlannedStage stage(const std::string& name, const Names& needs, int cpus, int gpus = 0) {
  spec::PlannedStage planned;
  planned.name = name;
  planned.needs = needs;
  planned.resources.cpus = cpus;
  planned.resources.gpus = gpus;
  return planned;
}

/// Four cores of two hardware threads each, and one GPU.
NodeCapacity node() {
  return {{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, {"GPU-a"}, 0};
}

/// Everything that may start now, as "name:cpu,cpu" ("name" where it runs alone).
Names started(StageGraph& graph, const Stages& stages) {
  Names names;
  while (const auto start = graph.next()) {
    std::string text = stages[start->stage].name;
    if (start->slots) {
      for (const int cpu : start->slots->cpus)
        text += (text == stages[start->stage].name ? ":" : ",") + std::to_string(cpu);
    }
    names.push_back(text);
  }
  return names;
}

}  // namespace

TEST_CASE("graph: a chain runs one after the other and is not bound") {
  const Stages stages{stage("a", {}, 2), stage("b", {"a"}, 2)};
  CHECK_FALSE(StageGraph::has_company(stages));
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a"});
  graph.finish(0, true);
  CHECK(started(graph, stages) == Names{"b"});
  graph.finish(1, true);
  CHECK(graph.running().empty());
}

TEST_CASE("graph: both sides of a diamond run at once, each on cores of its own") {
  const Stages stages{
      stage("a", {}, 1), stage("b", {"a"}, 2), stage("c", {"a"}, 1), stage("d", {"b", "c"}, 4)};
  CHECK(StageGraph::has_company(stages));
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a"});
  graph.finish(0, true);
  CHECK(started(graph, stages) == Names{"b:0,4,1,5", "c:2,6"});
  CHECK(graph.running() == std::vector<std::size_t>{1, 2});
  graph.finish(2, true);
  CHECK(started(graph, stages).empty());
  graph.finish(1, true);
  CHECK(started(graph, stages) == Names{"d"});
}

TEST_CASE("graph: what does not say its cores has the machine to itself") {
  const Stages stages{stage("a", {}, 1), stage("alone", {}, 0), stage("b", {}, 1)};
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a:0,4", "b:1,5"});
  graph.finish(0, true);
  CHECK(started(graph, stages).empty());
  graph.finish(2, true);
  CHECK(started(graph, stages) == Names{"alone"});
  graph.finish(1, true);
  CHECK(graph.running().empty());
}

TEST_CASE("graph: nothing starts beside one that runs alone") {
  const Stages stages{stage("alone", {}, 0), stage("a", {}, 1), stage("b", {}, 1)};
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"alone"});
  graph.finish(0, true);
  CHECK(started(graph, stages) == Names{"a:0,4", "b:1,5"});
}

TEST_CASE("graph: stages wait for cores that others have, and get them back") {
  const Stages stages{stage("a", {}, 2), stage("b", {}, 2), stage("c", {}, 2), stage("d", {}, 1)};
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a:0,4,1,5", "b:2,6,3,7"});
  graph.finish(0, true);
  CHECK(started(graph, stages) == Names{"c:0,4,1,5"});
  graph.finish(1, true);
  CHECK(started(graph, stages) == Names{"d:2,6"});
}

TEST_CASE("graph: the cores of all tasks of a stage count") {
  Stages stages{stage("a", {}, 1), stage("b", {}, 1)};
  stages[0].resources.tasks = 3;
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a:0,4,1,5,2,6", "b:3,7"});
}

TEST_CASE("graph: what wants more than there is runs alone and is not bound") {
  const Stages stages{stage("large", {}, 5), stage("a", {}, 4), stage("b", {}, 1)};
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"large"});
  graph.finish(0, true);
  // Four and one do not fit beside one another either.
  CHECK(started(graph, stages) == Names{"a"});
}

TEST_CASE("graph: one GPU goes to one stage at a time") {
  const Stages stages{stage("a", {}, 1, 1), stage("b", {}, 1, 1), stage("c", {}, 1)};
  StageGraph graph(stages, node());
  const auto a = graph.next();
  REQUIRE(a);
  CHECK(a->slots == spec::ResourceSlots{{0, 4}, {"GPU-a"}});
  const auto c = graph.next();
  REQUIRE(c);
  CHECK(c->stage == 2);
  CHECK(c->slots == spec::ResourceSlots{{1, 5}, {}});
  CHECK_FALSE(graph.next());
  graph.finish(0, true);
  CHECK(graph.next()->slots == spec::ResourceSlots{{0, 4}, {"GPU-a"}});
}

TEST_CASE("graph: stages wait for memory that others have, and get it back") {
  constexpr std::uint64_t gib = 1ULL << 30U;
  Stages stages{stage("a", {}, 1), stage("b", {}, 1), stage("c", {}, 1), stage("d", {}, 1)};
  stages[0].resources.memory_bytes = 5 * gib;
  stages[1].resources.memory_bytes = 4 * gib;
  stages[2].resources.memory_bytes = 3 * gib;
  NodeCapacity capacity = node();
  SECTION("of which there is so much") {
    capacity.memory_bytes = 8 * gib;
    StageGraph graph(stages, capacity);
    CHECK(started(graph, stages) == Names{"a:0,4", "c:1,5", "d:2,6"});
    graph.finish(2, true);
    CHECK(started(graph, stages).empty());
    graph.finish(0, true);
    CHECK(started(graph, stages) == Names{"b:0,4"});
  }
  SECTION("of which nobody knows how much there is") {
    StageGraph graph(stages, capacity);
    CHECK(started(graph, stages) == Names{"a:0,4", "b:1,5", "c:2,6", "d:3,7"});
  }
  SECTION("and who wants more than there is runs alone") {
    capacity.memory_bytes = 4 * gib;
    StageGraph graph(stages, capacity);
    CHECK(started(graph, stages) == Names{"a"});
    graph.finish(0, true);
    CHECK(started(graph, stages) == Names{"b:0,4", "d:1,5"});
    graph.finish(1, true);
    CHECK(started(graph, stages) == Names{"c:0,4"});
  }
}

TEST_CASE("graph: a failure keeps from running what needs it, and nothing else") {
  const Stages stages{stage("a", {}, 1),
                      stage("b", {}, 1),
                      stage("after a", {"a"}, 1),
                      stage("after b", {"b"}, 1),
                      stage("end", {"after a", "after b"}, 0)};
  StageGraph graph(stages, node());
  CHECK(started(graph, stages) == Names{"a:0,4", "b:1,5"});
  graph.finish(0, false);
  CHECK(graph.blocked_by(2) == 0);
  CHECK(graph.blocked_by(3) == std::nullopt);
  CHECK(graph.blocked_by(4) == 0);
  graph.finish(1, true);
  CHECK(started(graph, stages) == Names{"after b:0,4"});
  graph.finish(3, true);
  CHECK(started(graph, stages).empty());
}

TEST_CASE("graph: a stage that is not due keeps nobody waiting but for what it needs itself") {
  Stages stages{stage("first", {}, 0), stage("off", {"first"}, 0), stage("last", {"off"}, 0)};
  stages[1].not_due = "epochs is 5, not 1";
  SECTION("its needs are kept") {
    StageGraph graph(stages, node());
    CHECK(started(graph, stages) == Names{"first"});
    graph.finish(0, true);
    CHECK(started(graph, stages) == Names{"last"});
  }
  SECTION("a failure goes through it") {
    StageGraph graph(stages, node());
    CHECK(started(graph, stages) == Names{"first"});
    graph.finish(0, false);
    CHECK(graph.blocked_by(2) == 0);
  }
  SECTION("it is nobody's company") {
    Stages two{stage("a", {}, 1), stage("off", {}, 1)};
    two[1].not_due = "no";
    CHECK_FALSE(StageGraph::has_company(two));
    StageGraph graph(two, node());
    CHECK(started(graph, two) == Names{"a"});
  }
}
