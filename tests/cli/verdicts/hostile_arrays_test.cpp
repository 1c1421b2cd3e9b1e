// Files that crash HDF5, or make it loop, end the process that reads them and nothing else.
#include "support/hostile_hdf5.hpp"
#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A run whose stage writes `file` as x.h5, beside numbers that `--set it=` changes.
std::string copying(const Sabath& sabath, const fs::path& file) {
  return sabath.shell_recipe(
      "copying",
      "cp " + file.string() + " {output}/x.h5 && echo x,{param.it} | tr , '\\n' > {output}/y.csv",
      R"({"parameters": {"it": {"type": "int", "default": 1}}})",
      R"({"outputs": ["x.h5", "y.csv"]})");
}

/// Without a deadline: a request may take ten seconds of processor time, and much longer elsewhere.
Answer patiently(Sabath& sabath, const std::vector<std::string>& arguments) {
  return sabath.start(arguments).wait();
}

void grow(const fs::path& file) {
  fs::resize_file(file, fs::file_size(file) + (2U << 20U));
}

}  // namespace

TEST_CASE("hostile arrays: two files of which one never ends are compared but for that array") {
  Sabath sabath;
  make_endless_hdf5(sabath.folder() / "endless.h5");
  make_plain_hdf5(sabath.folder() / "plain.h5");
  const Answer answer = patiently(sabath,
                                  {"compare",
                                   (sabath.folder() / "endless.h5").string(),
                                   (sabath.folder() / "plain.h5").string(),
                                   "--json"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 3);
  const json comparison = json::parse(answer.output);
  CHECK(comparison["result"] == "INCONCLUSIVE");
  CHECK_THAT(std::string(comparison["reason"]),
             Contains("/x cannot be read: the reader process took more than its limit"));
  CHECK(comparison["outputs"].size() == 2);
}

TEST_CASE("hostile arrays: a file that crashes HDF5 is a damaged file") {
  const Sabath sabath;
  make_crashing_hdf5(sabath.folder() / "crash.h5");
  make_plain_hdf5(sabath.folder() / "plain.h5");
  const Answer answer = sabath({"compare",
                                (sabath.folder() / "plain.h5").string(),
                                (sabath.folder() / "crash.h5").string()});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("crash.h5: cannot be read: the reader process was killed"));
}

TEST_CASE("hostile arrays: an output that crashes HDF5 is not judged, and the others are") {
  Sabath sabath;
  const fs::path file = sabath.folder() / "made.h5";
  make_crashing_hdf5(file);
  const std::string recipe = copying(sabath, file);
  REQUIRE(sabath({"run", recipe}).status == 0);
  std::ofstream(file, std::ios::app) << "other bytes";
  REQUIRE(sabath({"run", recipe, "--seed", "7"}).status == 0);
  const auto runs = sabath.run_directories();
  const Answer answer =
      sabath({"compare", runs[0].filename().string(), runs[1].filename().string(), "--json"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 3);
  const json comparison = json::parse(answer.output);
  CHECK_THAT(comparison.dump(), Contains("x.h5 cannot be read: the reader process was killed"));
  CHECK_THAT(comparison.dump(), Contains("go/y.csv"));
}

TEST_CASE("hostile arrays: a signal ends the digests of an output without end, with a record") {
  Sabath sabath;
  const fs::path file = sabath.folder() / "made.h5";
  make_endless_hdf5(file);
  grow(file);
  const std::string recipe = copying(sabath, file);
  Running run = sabath.start({"run", recipe});
  const auto reads = [&] {
    const auto readers = processes_with("read-arrays");
    return sabath.count_runs() == 1 && !readers.empty() &&
           fs::exists(sabath.run_directories()[0] / "outputs/go/y.csv");
  };
  REQUIRE(eventually(reads, std::chrono::seconds(60)));
  run.signal(SIGTERM);
  const Answer answer = run.wait();
  CHECK(answer.status == 130);
  CHECK(json::parse(sabath.newest())["state"] == "interrupted");
}

TEST_CASE("hostile arrays: a signal ends the digests of a large table at once, with a record") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "large", "yes 1.25 | head -c 200000000 > {output}/x.csv", "{}", R"({"outputs": ["x.csv"]})");
  Running run = sabath.start({"run", recipe});
  const auto is_written = [&] {
    std::error_code code;
    return sabath.count_runs() == 1 &&
           fs::file_size(sabath.run_directories()[0] / "outputs/go/x.csv", code) == 200'000'000;
  };
  REQUIRE(eventually(is_written, std::chrono::seconds(60)));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // its digest is made before its values'
  const auto begin = std::chrono::steady_clock::now();
  run.signal(SIGTERM);
  CHECK(run.wait().status == 130);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
  CHECK(json::parse(sabath.newest())["state"] == "interrupted");
}

TEST_CASE("hostile arrays: the series of a run from elsewhere can be any file") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "counting",
      R"(for i in 1 2 3; do echo "{{\"step\": $i, \"sum\": 184467440737095516$i{param.it}}}")"
      " >> $SABATH_METRICS; done",
      R"({"parameters": {"it": {"type": "int", "default": 1, "affects": "execution"}},
          "require": "bitwise", "metrics": {"sum": {"from": "jsonl"}}})");
  REQUIRE(sabath({"run", recipe, "--seed", "1"}).status == 0);
  REQUIRE(sabath({"run", recipe, "--seed", "1", "--set", "it=2"}).status == 0);
  const std::string file = (sabath.folder() / "baseline.json").string();
  REQUIRE(sabath({"baseline", "propose", "it=1", "-o", file}).status == 0);
  REQUIRE(sabath({"baseline", "accept", file, "--by", "anna"}).status == 0);
  const auto runs = sabath.run_directories();
  const std::string a = runs[0].filename().string();
  const std::string b = runs[1].filename().string();
  const fs::path series = runs[1] / "series.h5";
  const fs::path kept = sabath.folder() / "kept.h5";
  fs::copy_file(series, kept);
  std::vector<fs::path> files;
  const auto made = [&](const char* name) { return files.emplace_back(sabath.folder() / name); };
  make_crashing_hdf5(made("crash.h5"));
  make_endless_hdf5(made("endless.h5"));
  fs::copy_file(kept, made("without_names.h5"));
  overwrite(files.back(), "TREE", 32, std::string(8, '\xff'));
  fs::copy_file(kept, made("cut.h5"));
  fs::resize_file(files.back(), fs::file_size(kept) / 2);
  std::ofstream(made("text.h5")) << "this is not HDF5";
  const fs::path folder = fs::path(SABATH_SOURCE_DIR) / "../shared/fixtures/hostile-hdf5";
  for (const char* name : {"rc-11_attrs_earliest.h5_11_96.h5",
                           "rcHANG_vls_earliest.h5_12_822.h5",
                           "mem1063_vl_earliest.h5_12_8837.h5"}) {
    if (fs::exists(folder / name)) files.push_back(folder / name);
  }
  for (const fs::path& hostile : files) {
    fs::copy_file(hostile, series, fs::copy_options::overwrite_existing);
    const std::vector<std::vector<std::string>> commands{
        {"show", b},
        {"list", "runs"},
        {"compare", a, b},
        {"compare", "recipe=counting", "--by", "it"},
        {"report", a, b, "--output", (sabath.folder() / "pair.md").string()},
        {"report",
         "recipe=counting",
         "--by",
         "it",
         "--output",
         (sabath.folder() / "all.html").string()},
        {"explain", a, b, "--budget", "1"},
        {"check", b, "--baseline", file}};
    for (const auto& words : commands) {
      const Answer answer = patiently(sabath, words);
      INFO(hostile.filename() << ": " << words[0] << ": status " << answer.status << "\n"
                              << answer.output << answer.errors);
      CHECK((answer.status == 0 || answer.status == 1 || answer.status == 3 || answer.status == 4 ||
             answer.status == 11));
      CHECK_THAT(answer.output, !Contains("RESULT       PASS"));
      if (words[0] == "show" || words[0] == "list") CHECK(answer.status == 0);
    }
  }
}

TEST_CASE("hostile arrays: the files of others that are known to break HDF5 break nothing here") {
  const fs::path folder = fs::path(SABATH_SOURCE_DIR) / "../shared/fixtures/hostile-hdf5";
  if (!fs::exists(folder)) {
    WARN("SKIPPED: " << folder << " is not there");
    return;
  }
  Sabath sabath;
  sabath.environment()["MALLOC_PERTURB_"] = "165";
  std::size_t tried = 0;
  std::size_t ended = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("rc") && !name.starts_with("mem")) continue;
    const std::string original =
        name.find("_NETCDF4") != std::string::npos
            ? "NETCDF4.nc"
            : name.substr(name.find('_') + 1, name.find(".h5_") + 2 - name.find('_'));
    const Answer answer =
        patiently(sabath, {"compare", entry.path().string(), (folder / original).string()});
    INFO(name << ": " << answer.output << answer.errors);
    CHECK((answer.status == 1 || answer.status == 3 || answer.status == 11));
    ++tried;
    if ((answer.output + answer.errors).find("the reader process") != std::string::npos) ++ended;
  }
  CHECK(tried == 18);
  WARN(tried << " files, " << ended << " of them ended a reader process");
}
