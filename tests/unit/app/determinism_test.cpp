#include "app/determinism.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Texts = std::map<std::string, std::string>;

namespace {

/// A plan of two stages.
struct Case {
  spec::RunPlan plan{};
  spec::Recipe recipe{};
  base::Environment environment{{"PATH", "/bin"}};
  app::CollectedStages collected{};
  Texts threads{};

  Case() {
    plan.seed = {7, "option"};
    plan.stages.resize(2);
    plan.stages[0].name = "prepare";
    plan.stages[1].name = "train";
    plan.stages[1].environment = {{"SABATH_SEED", "7"}, {"MY_SEED", "7"}, {"PYTHONHASHSEED", "7"}};
    recipe.seed_environment = {"MY_SEED"};
  }
  spec::Determinism found() const {
    return app::determinism_of(plan, recipe, environment, collected, threads);
  }
  Texts items() const { return app::determinism_facet(found(), plan, threads).items; }
};

}  // namespace

TEST_CASE("determinism: seeds by variable, and by library as the code told") {
  Case one;
  one.collected.stages["train"].reported.seeds = {{"numpy", "7"}, {"torch", "8"}};
  CHECK(one.found().seeds == Texts{{"SABATH_SEED", "7"},
                                   {"MY_SEED", "7"},
                                   {"PYTHONHASHSEED", "7"},
                                   {"numpy", "7"},
                                   {"torch", "8"}});
  // The run's own seed has its own facet.
  CHECK(one.items() == Texts{{"seed.torch", "8"}});
}

TEST_CASE("determinism: switches that were found and that sabath set, and numbers of threads") {
  Case one;
  one.environment["CUBLAS_WORKSPACE_CONFIG"] = ":16:8";
  one.environment["OMP_NUM_THREADS"] = "3";
  one.environment["OMP_SCHEDULE"] = "dynamic";
  one.environment["TORCH_HOME"] = "/home/ada/torch";
  one.environment["SABATH_HOME"] = "/x";
  one.environment["HOME"] = "/home/ada";
  for (auto& stage : one.plan.stages)
    stage.environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  one.threads = {{"openblas", "2"}};
  const auto found = one.found();
  CHECK(found.switches ==
        Texts{{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}, {"OMP_SCHEDULE", "dynamic"}});
  CHECK(found.threads == Texts{{"OMP_NUM_THREADS", "3"}, {"openblas", "2"}});
  CHECK(one.items() == Texts{{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"},
                             {"OMP_SCHEDULE", "dynamic"},
                             {"OMP_NUM_THREADS", "3"}});
}

TEST_CASE("determinism: what is not the same in all stages is told for each") {
  Case one;
  one.plan.stages[0].environment["OMP_NUM_THREADS"] = "1";
  one.plan.stages[1].environment["OMP_NUM_THREADS"] = "2";
  CHECK(one.found().threads ==
        Texts{{"OMP_NUM_THREADS in stage prepare", "1"}, {"OMP_NUM_THREADS in stage train", "2"}});
}

TEST_CASE("determinism: a number that only some stages have is not told of all") {
  Case one;
  one.plan.stages[1].environment["OMP_NUM_THREADS"] = "2";
  CHECK(one.found().threads == Texts{{"OMP_NUM_THREADS in stage train", "2"}});
}

TEST_CASE("determinism: one order of data is told as it is, several are digested") {
  Case one;
  CHECK_FALSE(one.found().sample_order);
  one.collected.stages["train"].reported.orders = {{0, "abc"}};
  CHECK(one.found().sample_order == "abc");
  CHECK(one.items() == Texts{{"sample_order", "abc"}});
  one.collected.stages["train"].reported.orders = {{0, "abc"}, {1, "def"}};
  one.collected.stages["prepare"].reported.orders = {{0, "ghi"}};
  CHECK(one.found().sample_order ==
        base::sha256_of("prepare 0 ghi\ntrain 0 abc\ntrain 1 def\n").text());
}

TEST_CASE("determinism: secrets do not get into the record") {
  Case one;
  one.environment["NCCL_NET_PLUGIN"] = "https://ada:secret@example.org";
  CHECK(one.found().switches.at("NCCL_NET_PLUGIN") == "https://[redacted]@example.org");
}

TEST_CASE("determinism: the host's variables do not reach into a container") {
  Case one;
  one.environment["OMP_NUM_THREADS"] = "3";
  spec::BuiltLayer layer;
  layer.lock.kind = spec::LayerKind::container;
  layer.container.emplace();
  one.plan.environment.layers = {layer};
  CHECK(one.found().threads.empty());
}
