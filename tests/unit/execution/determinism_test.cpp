#include "execution/record/determinism.hpp"

#include <sabath/home/document_secrets.hpp>
#include <sabath/home/tuning_variables.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Texts = std::map<std::string, std::string>;

namespace {

/// A plan of two stages.
struct Case {
  spec::RunPlan plan{};
  spec::Recipe recipe{};
  base::Environment environment{{"PATH", "/bin"}};
  execution::CollectedStages collected{};
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
    return execution::determinism_of(plan, recipe, environment, collected, threads);
  }
  Texts items() const { return execution::determinism_facet(found(), plan, threads).items; }
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

TEST_CASE("determinism: what chooses among ways to compute is known by its name, and is recorded") {
  const std::string name = GENERATE("NPY_DISABLE_CPU_FEATURES",
                                    "ATEN_CPU_CAPABILITY",
                                    "DNNL_MAX_CPU_ISA",
                                    "KERAS_BACKEND",
                                    "NUMBA_CPU_NAME",
                                    "CUPY_TF32",
                                    "NVTE_FLASH_ATTN",
                                    "FLEXIBLAS",
                                    "GSL_RNG_SEED",
                                    "GSL_RNG_TYPE",
                                    "GFORTRAN_CONVERT_UNIT",
                                    "F_UFMTENDIAN",
                                    "FORT_CONVERT10",
                                    "PETSC_OPTIONS",
                                    "FI_PROVIDER",
                                    "MV2_USE_SHARP",
                                    "PMIX_MCA_gds",
                                    "PRTE_MCA_rmaps_default_mapping_policy",
                                    "OMPI_MCA_coll_tuned_allreduce_algorithm",
                                    "ROMIO_HINTS",
                                    "ACCELERATE_MIXED_PRECISION",
                                    "ACC_DEVICE_TYPE",
                                    "CRAY_ACC_MALLOC_HEAPSIZE",
                                    "DS_ACCELERATOR",
                                    "FLAGS_cudnn_deterministic",
                                    "GOMP_CPU_AFFINITY",
                                    "HF_HUB_OFFLINE",
                                    "TORCHINDUCTOR_MAX_AUTOTUNE",
                                    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
                                    "TRANSFORMERS_OFFLINE",
                                    "GOMAXPROCS",
                                    "POLARS_MAX_THREADS",
                                    "KOKKOS_NUM_THREADS",
                                    "PL_GLOBAL_SEED",
                                    "TF_XLA_FLAGS");
  CHECK(home::is_of_determinism(name));
  CHECK_FALSE(home::is_of_surroundings(name));
  CHECK(home::variables_that_matter({{name, "3"}}) == Texts{{name, "3"}});
  Case one;
  one.environment[name] = "3";
  const auto items = one.items();
  CHECK(items.size() == 1);
  CHECK((items.contains(name) || items.contains("seed." + name)));
}

TEST_CASE("determinism: what only says where something lies, or is of another program, is none") {
  const std::string name = GENERATE("TF_CLI_CONFIG_FILE",
                                    "TF_CLI_ARGS",
                                    "TF_VAR_password",
                                    "TF_TOKEN_app_example_org",
                                    "HF_TOKEN",
                                    "HF_HUB_CACHE",
                                    "HF_ENDPOINT",
                                    "TRANSFORMERS_VERBOSITY",
                                    "KERAS_HOME",
                                    "NUMBA_CACHE_DIR",
                                    "DNNL_VERBOSE",
                                    "OMPI_MCA_orte_jobid",
                                    "OMP_SCHEDULE in stage train");
  CHECK_FALSE(home::is_of_determinism(name));
  if (name.starts_with("TF_")) CHECK(home::variables_that_matter({{name, "3"}}).empty());
}

TEST_CASE("determinism: what leads to other code, or says the language, is a facet of its own") {
  const std::string name = GENERATE("PYTHONPATH",
                                    "LD_LIBRARY_PATH",
                                    "LD_PRELOAD",
                                    "LANG",
                                    "LC_ALL",
                                    "LC_NUMERIC",
                                    "TZ",
                                    "R_LIBS",
                                    "PERL5LIB",
                                    "CLASSPATH",
                                    "HF_HOME",
                                    "JULIA_DEPOT_PATH",
                                    "JAVA_TOOL_OPTIONS");
  Case one;
  one.environment[name] = "/home/ada/lib";
  CHECK(home::variables_that_matter(one.environment) == Texts{{name, "/home/ada/lib"}});
  const auto items = [&] { return home::variables_facet(one.plan, one.environment).items; };
  CHECK(items() == Texts{{name, "/home/ada/lib"}});
  SECTION("what a recipe sets is of the recipe") {
    one.plan.stages[0].environment[name] = "/own";
    CHECK(items() == Texts{{name, "/home/ada/lib"}});  // the other stage sees it
    one.plan.stages[1].environment[name] = "/own";
    CHECK(items().empty());
  }
  SECTION("what a layer adds lies elsewhere in each home, and is of the environment") {
    spec::BuiltLayer layer;
    layer.variables[name] = "/home/ada/.cache/envs/a:$" + name;
    one.plan.environment.layers = {layer};
    CHECK(items() == Texts{{name, "/home/ada/lib"}});
    one.plan.environment.layers[0].variables[name] = "/home/ada/.cache/envs/a";
    CHECK(items().empty());
  }
  SECTION("it does not reach into a container") {
    spec::BuiltLayer layer;
    layer.lock.kind = spec::LayerKind::container;
    layer.container.emplace();
    one.plan.environment.layers = {layer};
    CHECK(items().empty());
  }
}

TEST_CASE("determinism: the user's PYTHONPATH does not reach into an environment of packages") {
  Case one;
  one.environment["PYTHONPATH"] = "/home/ada/lib";
  spec::BuiltLayer layer;
  layer.lock.kind = spec::LayerKind::pip;
  layer.prefix = "/envs/a";
  one.plan.environment.layers = {layer};
  CHECK(home::variables_facet(one.plan, one.environment).items.empty());
}
