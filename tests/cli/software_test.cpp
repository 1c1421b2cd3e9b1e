// What a run really loaded, and what decides its results, as its record says it.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string libraries = SABATH_TEST_LIBRARIES;
/// Longer than the pauses between two looks, however slow the machine is.
const std::string hold = SABATH_TEST_PROGRAMS "/hold_library 3 ";

json run(const Sabath& sabath, const std::string& folder) {
  const Answer answer = sabath({"run", folder, "--seed", "1"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return json::parse(sabath.newest());
}

const json* library_of(const json& record, const std::string& path) {
  for (const json& library : record["software"]["libraries"]) {
    if (library["path"] == path) return &library;
  }
  return nullptr;
}

json items_of(const json& record, const std::string& name) {
  for (const json& facet : record["facets"]) {
    if (facet["name"] == name) return facet["items"];
  }
  return nullptr;
}

}  // namespace

TEST_CASE("cli: a run's libraries are recorded by their bytes, with what they say of themselves") {
  Sabath sabath;
  sabath.environment()["OPENBLAS_CORETYPE"] = "Zen";
  sabath.environment()["OPENBLAS_NUM_THREADS"] = "2";
  const std::string blas = libraries + "/new/libopenblas.so";
  const std::string line = "exec " + hold + blas + " " + libraries + "/cuda/libcudnn.so";
  const auto folder = sabath.shell_recipe("held", line);
  json record = run(sabath, folder);
  const json* library = library_of(record, blas);
  REQUIRE(library != nullptr);
  CHECK((*library)["digest"] == base::digest_file(blas).text());
  CHECK((*library)["build_id"] == "5aba70");
  CHECK((*library)["stages"] == json::parse(R"(["go"])"));
  CHECK(library_of(record, fs::canonical(SABATH_TEST_PROGRAMS "/hold_library")) != nullptr);
  CHECK(record["software"]["versions"]["blas"] == "OpenBLAS 0.3.21 (Zen)");
  CHECK(record["software"]["versions"]["cudnn"] == "9.1.0");
  CHECK(record["determinism"]["threads"]["openblas"] == "2");
  CHECK(record["determinism"]["switches"]["OPENBLAS_CORETYPE"] == "Zen");
  CHECK(items_of(record, "libraries")["blas"] == "OpenBLAS 0.3.21 (Zen)");
  CHECK(items_of(record, "libraries")["libopenblas.so"] ==
        blas + "=" + base::digest_file(blas).hex.substr(0, 16));

  const Answer shown = sabath({"show", "@last"});
  CHECK_THAT(shown.output, Contains("OpenBLAS 0.3.21 (Zen)") && !Contains(blas));
  CHECK_THAT(sabath({"show", "@last", "--libraries"}).output,
             Contains(blas) && Contains(base::digest_file(blas).hex.substr(0, 16)));

  SECTION("nobody is asked twice, as long as what its answer depends on is the same") {
    const fs::path memo = sabath.home() / "state" / "library-versions";
    std::string text = base::read_file(memo);
    for (std::size_t at = 0; (at = text.find("0.3.21", at)) != std::string::npos;)
      text.replace(at, 6, "known.");
    base::write_file_atomically(memo, text, base::Durability::ordered_only, 0600);
    CHECK(run(sabath, folder)["software"]["versions"]["blas"] == "OpenBLAS known. (Zen)");
    sabath.environment()["OPENBLAS_CORETYPE"] = "Nehalem";
    CHECK(run(sabath, folder)["software"]["versions"]["blas"] == "OpenBLAS 0.3.21 (Nehalem)");
  }
}

TEST_CASE("cli: a library is asked with the environment of each stage that has it") {
  Sabath sabath;
  const std::string blas = libraries + "/new/libopenblas.so";
  const std::string program = SABATH_TEST_PROGRAMS "/hold_library";
  const auto stage = [&](const std::string& name, int cpus) {
    return json{{"name", name},
                {"run", {program, "3", blas}},
                {"variables", {{"OPENBLAS_CORETYPE", cpus == 1 ? "Nehalem" : "Zen"}}},
                {"resources", {{"cpus", cpus}}}};
  };
  const json recipe = {{"schema", 1},
                       {"name", "stages"},
                       {"deterministic", true},
                       {"stages", {stage("one", 1), stage("two", 2)}}};
  const json record = run(sabath, sabath.recipe("stages", recipe.dump()));
  CHECK(record["determinism"]["threads"]["openblas in stage one"] == "1");
  CHECK(record["determinism"]["threads"]["openblas in stage two"] == "2");
  CHECK(record["determinism"]["threads"]["OMP_NUM_THREADS in stage two"] == "2");
  CHECK(record["software"]["versions"]["blas in stage one"] == "OpenBLAS 0.3.21 (Nehalem)");
  CHECK(record["software"]["versions"]["blas in stage two"] == "OpenBLAS 0.3.21 (Zen)");
}

TEST_CASE("cli: two runs that differ only in their BLAS are told to") {
  Sabath sabath;
  const fs::path place = sabath.folder() / "lib" / "libopenblas.so";
  base::make_directories(place.parent_path());
  fs::copy_file(libraries + "/old/libopenblas.so", place);
  const auto folder = sabath.shell_recipe("sums",
                                          "exec " + hold + place.string(),
                                          R"({"metrics": {"sum": {}}, "deterministic": true})");
  const json first = run(sabath, folder);
  fs::remove(place);
  fs::copy_file(libraries + "/new/libopenblas.so", place);
  const json second = run(sabath, folder);
  REQUIRE(first["metrics"][0]["last"] != second["metrics"][0]["last"]);
  const Answer compared = sabath({"compare", "@last~1", "@last", "--require", "bitwise"});
  INFO(compared.output + compared.errors);
  CHECK_THAT(compared.output,
             Contains("libraries") && Contains("OpenBLAS 0.3.20 (Haswell)") &&
                 Contains("OpenBLAS 0.3.21 (Haswell)"));
  const json answer =
      json::parse(sabath({"compare", "@last~1", "@last", "--require", "bitwise", "--json"}).output);
  CHECK_THAT(answer["likely_cause"].get<std::string>(),
             Contains("the runs differ in libraries (blas and libopenblas.so)") &&
                 Contains("other libraries compute in another order"));
}

TEST_CASE("cli: a library that crashes, hangs or prints when it is asked costs a note at most") {
  Sabath sabath;
  const auto versions_with = [&](const std::string& kind) {
    const std::string path = libraries + "/" + kind + "/libopenblas.so";
    const json record = run(sabath, sabath.shell_recipe(kind, "exec " + hold + path));
    CHECK(library_of(record, path) != nullptr);
    return record["software"];
  };
  json software = versions_with("crashing");
  CHECK_FALSE(software["versions"].contains("blas"));
  CHECK_THAT(software["notes"].dump(),
             Contains("crashing/libopenblas.so: could not be asked") &&
                 Contains("was killed by signal 6 (SIGABRT)"));
  software = versions_with("hanging");
  CHECK_FALSE(software["versions"].contains("blas"));
  CHECK_THAT(
      software["notes"].dump(),
      Contains("hanging/libopenblas.so: could not be asked") && Contains("ran past its limit"));
  software = versions_with("printing");
  CHECK(software["versions"]["blas"] == "OpenBLAS 9.9");
}

TEST_CASE("cli: Open MPI and HDF5 say their versions") {
  Sabath sabath;
  const std::string folder = "/usr/lib/x86_64-linux-gnu/";
  std::string found;
  for (const char* name : {"libmpi.so.40", "libhdf5_serial.so.103", "libgomp.so.1"}) {
    if (fs::exists(folder + name)) found += folder + name + " ";
  }
  if (found.empty()) {
    WARN("none of the libraries is here");
    return;
  }
  const json record = run(sabath, sabath.shell_recipe("real", "exec " + hold + found));
  const json& versions = record["software"]["versions"];
  INFO(record["software"].dump(1));
  if (found.find("libmpi") != std::string::npos)
    CHECK_THAT(versions.value("mpi", ""), Contains("Open MPI v4."));
  if (found.find("libhdf5") != std::string::npos)
    CHECK_THAT(versions.value("hdf5", ""), Contains("1.10."));
  if (found.find("libgomp") != std::string::npos) {
    CHECK_THAT(versions.value("openmp", ""), Contains("libgomp.so.1"));
    CHECK(std::stoi(record["determinism"]["threads"].value("openmp", "0")) > 0);
  }
}

TEST_CASE("cli: a process that ended too soon to be looked at is told, and not guessed") {
  Sabath sabath;
  const fs::path recipe = sabath.recipe(
      "short", R"({"schema": 1, "name": "short", "stages": [{"name": "go", "run": ["true"]}]})");
  const json software = run(sabath, recipe)["software"];
  // On a machine that was just then busy it may have been seen.
  const std::string libraries = software["libraries"].dump();
  const bool was_seen = libraries.find(".so") != std::string::npos;
  // What was started is known all the same.
  CHECK_THAT(libraries, Contains("/true\""));
  const std::string notes = software["notes"].dump();
  CHECK(was_seen != (notes.find("stage go: its process ended before it could be looked at") !=
                     std::string::npos));
}

TEST_CASE("cli: what the code tells of its seeds and of the order of its data is recorded") {
  Sabath sabath;
  sabath.environment()["OMP_NUM_THREADS"] = "2";
  sabath.environment()["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true";
  const auto folder =
      sabath.shell_recipe("told",
                          R"x(echo '{{"seeds": {{"numpy": 7}}}}' >> $SABATH_METRICS;)x"
                          R"x(echo '{{"epoch": 0, "sample_ids": [3, 1, 2]}}' >> $SABATH_METRICS;)x"
                          R"x(echo '{{"epoch": 1, "sample_ids": [1, 2, 3]}}' >> $SABATH_METRICS)x",
                          R"({"seed": {"environment": ["MY_SEED"]}})");
  const json determinism = run(sabath, folder)["determinism"];
  CHECK(determinism["seeds"]["MY_SEED"] == "1");
  CHECK(determinism["seeds"]["SABATH_SEED"] == "1");
  CHECK(determinism["seeds"]["numpy"] == "7");
  CHECK(determinism["threads"]["OMP_NUM_THREADS"] == "2");
  CHECK(determinism["switches"]["XLA_FLAGS"] == "--xla_gpu_deterministic_ops=true");
  CHECK(determinism["sample_order"] ==
        base::sha256_of("epoch 0\n3\n1\n2\nepoch 1\n1\n2\n3\n").text());
}

TEST_CASE(
    "cli: packages of a Python that is of no layer are recorded, and told where they differ") {
  Sabath sabath;
  const fs::path python = sabath.folder() / "venv/bin/python";
  base::Command make;
  make.argv = {"python3", "-m", "venv", "--without-pip", (sabath.folder() / "venv").string()};
  REQUIRE(base::SystemProcessRunner().run(make).ok());
  fs::path site;
  for (const auto& entry : fs::directory_iterator(sabath.folder() / "venv/lib"))
    site = entry.path() / "site-packages";
  const fs::path folder = sabath.recipe("own",
                                        R"({"schema": 1, "name": "own",
    "environment": {"layers": []},
    "stages": [{"name": "go", "run": [")" + python.string() +
                                            R"(", "{recipe}/go.py"]}]})");
  write_text(folder / "go.py",
             "import os\n"
             "with open(os.environ['SABATH_METRICS'], 'w') as metrics:\n"
             "    metrics.write('{\"x\": %d}\\n' % os.getpid())\n");
  fs::create_directories(site / "Some_Thing-1.0.dist-info");
  const json first = run(sabath, folder.string());
  CHECK(first["software"]["packages"] == json{{"some-thing", "1.0"}});
  CHECK(items_of(first, "packages") == json{{"some-thing", "1.0"}});
  fs::rename(site / "Some_Thing-1.0.dist-info", site / "Some_Thing-1.1.dist-info");
  run(sabath, folder.string());
  const Answer told = sabath({"compare", "@last~1", "@last"});
  CHECK_THAT(told.output, Contains("packages: some-thing") && Contains("other packages of Python"));
  CHECK_THAT(sabath({"show", "@last"}).output, Contains("1 of a Python that is of no layer"));
  CHECK_THAT(sabath({"show", "@last", "--libraries"}).output, Contains("some-thing  1.1"));
}
