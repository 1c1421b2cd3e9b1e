#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/package_lock.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/run_status.hpp>

#include <chrono>

// Values of which every optional part is there, so that their JSON has every key.

namespace sabath::test {

inline spec::Asset full_asset() {
  spec::Asset asset;
  asset.kind = spec::AssetKind::model;
  asset.name = "mlp";
  asset.version = "1.2";
  asset.title = "A small network";
  asset.description = "Predicts the next state";
  asset.keywords = {"mlp", "surrogate"};
  asset.license = "BSD-3-Clause";
  asset.citation = "https://example.org/paper";
  asset.homepage = "https://example.org/";
  asset.identifier = "doi:10.1000/182";
  asset.task = "regression";
  asset.metrics = "loss";
  asset.withdrawn = "superseded";
  asset.access = {"login", {"ask", "wait"}, "example"};
  asset.files = {{"weights.tar",
                  12345678901234U,
                  {base::sha256_of("x"),
                   {base::DigestAlgorithm::sha512, std::string(128, 'a')},
                   {base::DigestAlgorithm::sha1, std::string(40, 'b')},
                   {base::DigestAlgorithm::md5, std::string(32, 'c')}},
                  {"https://example.org/weights.tar", "ftp://mirror.example.org/weights.tar"},
                  "tar",
                  98765432109876U},
                 {"README", {}, {}, {"https://example.org/README"}, "", {}}};
  spec::Parameter threads;
  threads.name = "threads";
  threads.type = spec::ParameterType::integer;
  threads.default_value = std::int64_t{1};
  threads.min = 1;
  threads.max = 64;
  threads.affects_result = false;
  threads.unit = "1";
  threads.description = "at a time";
  spec::Parameter layout;
  layout.name = "layout";
  layout.type = spec::ParameterType::enumeration;
  layout.default_value = std::string("rows");
  layout.values = {"rows", "columns"};
  asset.scripts = {{"convert", "to HDF5", {"{asset}/convert"}, {layout, threads}, {"x.h5"}, {}},
                   {"split", "", {"{asset}/split", "{script.convert}"}, {}, {}, {"convert"}}};
  asset.code =
      spec::CodeSource{"https://example.org/mlp.git", std::string(40, '1'), {"patches/fix.patch"}};
  asset.framework = "none";
  asset.format = "hdf5";
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::source;
  layer.name = "code";
  layer.path = "{recipe}/code";
  layer.build = "cmake";
  layer.options = {{"CMAKE_BUILD_TYPE", "Release"}};
  layer.languages = {"c++", "fortran"};
  layer.variables = {{"OMP_PROC_BIND", "true"}};
  asset.environment = spec::EnvironmentSpec{{}, {layer}};
  asset.parameters = {{"layers", "[32,32]"}, {"rate", "0.003"}};
  return asset;
}

inline spec::HostFacts full_host() {
  spec::HostFacts facts;
  facts.node = "node1";
  facts.boot_id = "6f0c2a1e-0000-4000-8000-000000000000";
  facts.cpu = {"Example CPU",
               "Example",
               "x86_64",
               "6/85/7",
               "0x1",
               {"sse2", "avx2"},
               2,
               32,
               64,
               16,
               4.5,
               4,
               {{"L2", 1U << 20U}}};
  facts.memory = {(63ULL << 30U) + (100U << 20U), 16ULL << 30U};
  facts.gpus = {
      {"Example GPU", "GPU-1", "550.1", "0000:01:00.0", 80ULL << 30U, 350, 1200, 1980, true, "on"}};
  facts.gpus.front().vendor = "nvidia";
  facts.gpus.front().memory_clock_mhz = 2619;
  facts.gpus.front().temperature_c = 34.0;
  facts.gpus.front().processes = {{4711, "python3", 1U << 30U}};
  facts.gpu_reason = "";
  facts.devices = {{"network", "eth0", "Example 100G", "up", 100'000U, "mlx5_core"}};
  facts.os = "Debian GNU/Linux 12 (bookworm)";
  facts.kernel = "6.1.0-18-amd64";
  facts.libc = "glibc 2.36";
  facts.compilers = {{"c++", "g++ 12.2.0"}};
  facts.blas = "/usr/lib/libblas.so.3";
  facts.virtualization = "kvm";
  facts.load_1min = 0.25;
  facts.memory_available_bytes = 8ULL << 30U;
  facts.governor = "performance";
  facts.looked_at = "2026-11-20T10:32:05.123Z";
  facts.settings.emplace()["smt"] = "on";
  facts.mounts = {{"input.train", "/cache/trees/1", "/cache", "nfs4", "server:/export", "rw"}};
  facts.noise = {"load 9.5 on 16 threads at the start"};
  return facts;
}

inline spec::BuiltEnvironment full_environment() {
  spec::LayerLock lock{spec::LayerKind::source,
                       "code",
                       {{"cxx", "g++ 12.2.0 x86_64-linux-gnu"},
                        {"package.numpy", "2.4.6 " + base::sha256_of("n").text()}},
                       base::sha256_of("layer")};
  return {
      {{lock,
        "/cache/envs/source/1/a",
        {{"OMP_PROC_BIND", "true"}},
        spec::LoadedModules{"/usr/share/lmod/init/bash",
                            {{"gcc/12", "/modules/gcc/12.lua", base::sha256_of("module")}},
                            {{"GCC_HOME", "/opt/gcc"}},
                            {"CC"}},
        spec::ContainerImage{"podman", "/usr/bin/podman", "host/image@sha256:0", true, {"/data"}},
        base::sha256_of("lock"),
        std::map<std::string, std::string>{{"numpy", "2.4.6"}}}}};
}

inline spec::PackageLock full_lock() {
  const spec::LockedPackage numpy{"numpy",
                                  "2.4.6",
                                  "numpy-2.4.6-cp311-cp311-linux_x86_64.whl",
                                  base::sha256_of("n"),
                                  {},
                                  {},
                                  true};
  const spec::LockedPackage blas{"libblas",
                                 "3.9.0",
                                 "libblas-3.9.0-25_openblas.conda",
                                 base::sha256_of("b"),
                                 "25_openblas",
                                 "https://host/linux-64/libblas-3.9.0-25_openblas.conda",
                                 false};
  return {{{spec::LayerKind::pip,
            "python",
            base::sha256_of("request"),
            {{"linux-x86_64", "cp311", "pip 23.2.1", {numpy}}}},
           {spec::LayerKind::conda,
            "libraries",
            base::sha256_of("other request"),
            {{"linux-64", "", "conda 24.1.0", {blas}}}}}};
}

inline spec::LayerSpec full_pip_layer() {
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::pip;
  layer.name = "python";
  layer.commands = {"f2py"};
  layer.variables = {{"OMP_NUM_THREADS", "1"}};
  layer.packages = {"3.11",
                    {"numpy>=2"},
                    {"{recipe}/requirements.txt"},
                    {"scipy<2"},
                    {"{recipe}/constraints.txt"},
                    {"mpi4py"},
                    {"numpy"},
                    {"libtbb.so.12"},
                    {},
                    {}};
  return layer;
}

inline spec::LayerSpec full_conda_layer() {
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::conda;
  layer.name = "conda";
  layer.variants = {"cpu"};
  layer.commands = {"gdalinfo"};
  layer.packages.requirements = {"numpy=1.26", "conda-forge::gdal >=3,<4"};
  layer.packages.channels = {"conda-forge", "{recipe}/channel", "https://host/channel"};
  layer.packages.imports = {"numpy"};
  return layer;
}

inline spec::LayerSpec full_code_layer() {
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::source;
  layer.name = "mpi";
  layer.origin.archive = "https://host/openmpi-4.1.6.tar.bz2";
  layer.origin.digest = base::sha256_of("archive");
  layer.path = "openmpi-4.1.6";
  layer.patches = {"{recipe}/fix.patch"};
  layer.build = "autotools";
  layer.options = {{"enable-mpi-fortran", ""}, {"with-cuda", "$CUDA_HOME"}};
  layer.languages = {"c", "fortran"};
  return layer;
}

inline spec::LayerSpec full_container_layer() {
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::container;
  layer.name = "image";
  layer.variants = {"gpu"};
  layer.commands = {"python3"};
  layer.container = {
      "localhost:5000/tools/python:3.11", {"podman"}, {"/data", "/opt:/opt:ro"}, true};
  return layer;
}

inline spec::RunPlan full_plan() {
  spec::RunPlan plan;
  plan.run_id = "tiny-20261120-103205-abcdefgh";
  plan.study_point = 3;
  plan.slots = spec::ResourceSlots{{2, 3}, {"GPU-1"}};
  plan.created = "2026-11-20T10:32:05.123Z";
  plan.sabath_version = "0.1.0";
  plan.recipe_text =
      R"({"schema": 1, "name": "tiny", "stages": [{"name": "one", "run": ["true"]}]})";
  plan.recipe_directory = "/recipes/tiny";
  plan.parameters = {{"epochs", std::int64_t{5}}, {"rate", 0.003}, {"fast", true}};
  plan.seed = {7U, "option"};
  plan.tags = {"ci"};
  plan.inputs = {{"train", "thermals", "1", base::sha256_of("tree"), "/cache/trees/1"}};
  plan.environment = full_environment();
  spec::PlannedStage stage;
  stage.name = "one";
  stage.argv = {"true"};
  stage.argv_template = {"true"};
  stage.outputs = {"x.h5"};
  stage.resources.nodes = stage.resources.tasks = 1;
  stage.resources.gpus = 0;
  stage.resources.time = std::chrono::seconds(600);
  stage.resources.silence = std::chrono::seconds(60);
  stage.resources.grace = std::chrono::seconds(30);
  stage.environment = {{"SABATH_SEED", "7"}};
  stage.retry = spec::Retry{2,
                            std::chrono::seconds(5),
                            {75},
                            {"SIGBUS"},
                            {"time", "silence"},
                            {"CUDA error: out of memory"}};
  stage.variant = "mpi";
  stage.not_due = "epochs is 5, not 1 or 2";
  stage.parallel = "auto";
  stage.checkpoint = true;
  stage.files.emplace()["thermal.ini"] = "widths = [64]";
  plan.variants = {{"mpi", full_environment()}};
  plan.stages = {stage};
  plan.code = {{"recipe", "sha256:0"}};
  plan.launch = {{"launcher", "local"}};
  plan.cache_directory = "/cache";
  plan.state_directory = "/state";
  plan.reproduce = "sabath run tiny --seed 7";
  spec::GitState git;
  git.commit = "1f3a";
  git.branch = "main";
  git.path = "recipes/tiny";
  git.remotes = {{"origin", "https://example.org/tiny.git"}};
  git.dirty = {"M code/a.py"};
  git.dirty_files = 1;
  git.submodules = {{"lib", "2b4c"}};
  git.diff = "code.diff";
  plan.code_state = spec::CodeState{
      "code.tar.gz", "", base::sha256_of("code"), git, "", "untracked.tar.gz", "too much"};
  plan.code_state->changed.emplace().push_back(
      {"before stage one", base::sha256_of("later"), {"code/a.py"}});
  plan.variant = "cpu";
  plan.repeats = "tiny-20261119-103205-abcdefgh";
  plan.task = "infer";
  plan.batch = "jobs/1";
  plan.environment_from = "toy-20261120-103200-abcdefgh";
  plan.stop_when_diverged = "toy-20261119-103200-abcdefgh";
  plan.trusted = spec::TrustSeen{"5a87687a-db74-4053-af48-56d0f0005513", 4711.5};
  return plan;
}

inline spec::JobStart full_start() {
  return {"4711_3", 1, 2};
}

inline spec::RunStatus full_status() {
  spec::RunStatus status;
  status.state = spec::RunState::running;
  status.attempt = 2;
  status.job = full_start();
  return status;
}

inline spec::RunRecord full_record() {
  const spec::RunPlan plan = full_plan();
  spec::RunRecord record;
  record.run_id = plan.run_id;
  record.sabath_version = plan.sabath_version;
  record.created = plan.created;
  record.started = "2026-11-20T10:32:05.200Z";
  record.ended = "2026-11-20T10:32:06.450Z";
  record.wall_s = 1.25;
  record.user = "ada";
  record.recipe_name = "tiny";
  record.recipe_text = plan.recipe_text;
  record.recipe_digest = base::sha256_of(plan.recipe_text);
  record.recipe_definition = base::sha256_of("definition");
  record.parameters = plan.parameters;
  record.execution_parameters = {"fast"};
  record.seed = plan.seed;
  record.require = spec::Rung::bitwise;
  record.tags = plan.tags;
  record.inputs = plan.inputs;
  record.environment = plan.environment;
  record.variables = {{"OMP_NUM_THREADS", "1"}};
  spec::StageRecord stage;
  stage.name = "one";
  stage.state = "ok";
  stage.argv = {"true"};
  stage.started = record.started;
  stage.wall_s = 1.25;
  stage.exit_code = 0;
  stage.signal = 0;
  stage.cpus = {2, 3};
  stage.gpus = {"GPU-1"};
  stage.tries = {
      {record.started, 0.5, 75, 0, "true exited with status 75", "exit code 75 is named"}};
  stage.variant = "mpi";
  stage.prefix = {"srun", "--ntasks=4"};
  stage.not_reusable = "output 'x.h5' was changed";
  stage.earlier_attempts = 1;
  record.variants = plan.variants;
  record.stages = {stage};
  record.outputs = {{"one",
                     "x.h5",
                     4096,
                     base::sha256_of("x"),
                     "cache",
                     base::sha256_of("trees"),
                     base::sha256_of("as made"),
                     "model/"}};
  spec::MetricSummary loss;
  loss.stream = "one";
  loss.name = "loss";
  loss.better = spec::Better::lower;
  loss.points = 2;
  loss.first = 0.5;
  loss.last = loss.min = 0.25;
  record.metrics = {loss};
  record.collected = spec::Collected{
      {{"global_batch_size", "64"}},
      {"7"},
      {"metric 'accuracy' was not found: jsonl 'accuracy'; searched one/metrics-0.jsonl"},
      {{{"7", "train.py", 12}}}};
  record.hosts = {full_host()};
  record.usage = {10, 0.1, 0.9, 1U << 20U, 0.01, "process tree", 4096U, 8192U, 4U, 2U, {}};
  record.usage.gpus = {{"GPU-1", 0.5, 1U << 30U, 250.5, 61.0, 1200, 1980, {{"power cap", 3U}}}};
  record.energy = "312.5 J on GPU-1 (nvml energy counter)";
  record.energy_readings = {
      {"node1", "GPU-1", 312.5, "nvml energy counter", "the whole device, from start to end"}};
  record.jobs = {{"slurm",
                  full_start(),
                  "tiny-1f3a",
                  "node1",
                  "node[1-2]",
                  "0-3,8",
                  {{"SLURM_CPU_BIND", "quiet,mask_cpu:0x00000003"}},
                  true}};
  record.attempts = {
      {1, "interrupted", "by a signal", "node3", {"4711_3", 0, 2}, "one", record.started}};
  spec::Software& software = record.software.emplace();
  software.libraries = {{"/usr/lib/libblas.so.3", 4096U, base::sha256_of("blas"), "1f3a", {"one"}}};
  software.versions = {{"blas", "OpenBLAS 0.3.21 Haswell"}};
  software.notes = {"stage two: ended before it was looked at"};
  software.packages.emplace()["numpy"] = "2.4.6";
  spec::Determinism& determinism = record.determinism.emplace();
  determinism.seeds = {{"SABATH_SEED", "7"}};
  determinism.switches = {{"OMP_DYNAMIC", "FALSE"}};
  determinism.threads = {{"OMP_NUM_THREADS", "1"}};
  determinism.sample_order = "sha256:0";
  record.masked = 2U;
  record.facets = {{"seed", {{"seed", "7"}}}};
  record.reproduce = plan.reproduce;
  record.code_state = plan.code_state;
  record.variant = plan.variant;
  record.repeats = plan.repeats;
  record.task = plan.task;
  return record;
}

inline spec::Comparison full_comparison() {
  const spec::Divergence divergence{"step 12 (epoch 1)", 12, 0.03125, 0.03125001, 3.2e-7, 1441};
  spec::ItemComparison item;
  item.name = "one/loss";
  item.compared = 100;
  item.different = 88;
  item.max_ulps = 1441;
  item.p999_ulps = 1440;
  item.max_relative = 3.2e-7;
  item.max_absolute = 1e-8;
  item.tolerance = {0.0, 1e-6, 4};
  item.strongest = spec::Rung::tolerance;
  item.first_bitwise = divergence;
  item.first_ulp = divergence;
  item.first_tolerance = divergence;
  item.within_envelope = false;
  item.first_envelope = divergence;
  for (auto& growth : item.growth)
    growth = divergence;
  spec::Comparison comparison;
  comparison.a = "tiny-20261120-103205-abcdefgh";
  comparison.b = "tiny-20261120-103307-ijklmnop";
  comparison.repetition = spec::Repetition::replicate;
  comparison.differences = {{"parameters", "threads", "1", "2"}};
  comparison.environment = {"layer 'py': package changed: numpy is 1.26.4 in A, 2.0.0 in B"};
  comparison.code = {{"code/train.sh",
                      "changed",
                      1,
                      1,
                      "@@ -1 +1 @@\n-echo 1\n+echo 2\n",
                      "only A's can be executed"}};
  comparison.code_note = "3 more files differ";
  comparison.metrics = {item};
  comparison.outputs = {item};
  comparison.outputs.front().name = "one/x.h5:/predicted";
  comparison.outputs.front().undecided = "only digests of its values are left";
  comparison.outputs.front().predictions = 100;
  comparison.outputs.front().churn = 0.03125;
  spec::PerformanceRow& row = comparison.performance.emplace_back();
  row.name = "one/epoch_time";
  row.unit = "s";
  row.median_a = 1.5;
  row.median_b = 1.25;
  row.n_a = row.n_b = 6;
  row.median_a_low = 1.4375;
  row.median_a_high = 1.5625;
  row.median_b_low = 1.125;
  row.median_b_high = 1.375;
  row.better = spec::Better::lower;
  row.cv_a = 0.03125;
  row.cv_b = 0.0625;
  row.ratio = 0.8333333333333334;
  row.ratio_low = 0.75;
  row.ratio_high = 0.875;
  row.margin = 0.05;
  row.verdict = spec::Verdict::fail;
  row.reason = "A is slower: the ratio lies in [0.75, 0.875], allowed: 5 %";
  comparison.reference = "a";
  comparison.envelope_runs = 5;
  comparison.performance_verdict = spec::Verdict::fail;
  comparison.performance_reason = "one/epoch_time: " + row.reason + " (both ran on the same node)";
  comparison.strongest = spec::Rung::tolerance;
  comparison.required_from = "the recipe";
  comparison.result = spec::Verdict::pass;
  comparison.reason = "tolerance holds, and tolerance is required";
  comparison.first_divergence = divergence;
  comparison.first_divergence_in = "one/loss";
  comparison.likely_cause = "an execution parameter: threads";
  return comparison;
}

}  // namespace sabath::test
