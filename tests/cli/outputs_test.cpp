// Outputs of runs: hashed, and on the disk once.
#include "support/answers.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <sys/stat.h>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json newest(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}

/// Writes `size` bytes that only depend on it.
std::string maker(const Sabath& sabath, const std::string& size, const std::string& stage = "{}") {
  return sabath.shell_recipe("maker",
                             "head -c " + size + " /dev/zero > {output}/x.bin",
                             "{}",
                             stage == "{}" ? R"({"outputs": ["x.bin"]})" : stage);
}

fs::path output_of(const fs::path& run) {
  return run / "outputs/go/x.bin";
}

void configure(Sabath& sabath, const std::string& cache) {
  const fs::path folder = sabath.folder() / "configuration";
  fs::create_directories(folder);
  write_text(folder / "config.json", R"({"schema": 1, "cache": )" + cache + "}");
  sabath.environment()["SABATH_CONFIG"] = folder.string();
}

fs::path object_of(const Sabath& sabath, const json& output) {
  const std::string hex = output["digest"].get<std::string>().substr(7);
  return sabath.cache() / "objects/sha256" / hex.substr(0, 2) / hex.substr(2);
}

}  // namespace

TEST_CASE("cli: two runs with the same output have it once on the disk, and it is read-only") {
  Sabath sabath;
  const std::string folder = maker(sabath, "100000");
  done(sabath, {"run", folder, "--seed", "1"});
  done(sabath, {"run", folder, "--seed", "2"});
  const auto runs = sabath.run_directories();
  const auto first = status_of(output_of(runs[0]));
  const auto second = status_of(output_of(runs[1]));
  CHECK(first.st_ino == second.st_ino);
  CHECK(first.st_nlink == 3);
  CHECK((first.st_mode & 0222) == 0);
  const json output = newest(sabath)["outputs"][0];
  CHECK(output["kept"] == "cache");
  CHECK(status_of(object_of(sabath, output)).st_ino == first.st_ino);
  const Answer used = sabath.program({"du", "-sk", sabath.home().string()});
  CHECK(std::stol(used.output) < 2000);
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last"}).output, Contains("PASS"));
  CHECK(sabath({"verify"}).status == 0);
}

TEST_CASE("cli: who is not root cannot write to an output of an earlier run") {
  Sabath sabath;
  const std::string folder = maker(sabath, "1000");
  const auto run = [&](const std::vector<std::string>& arguments) {
    return is_root() ? sabath.as_nobody(arguments) : sabath(arguments);
  };
  if (is_root()) {
    if (sabath.as_nobody({"--version"}).status != 0) {
      WARN("nobody may not run the program here");
      return;
    }
    sabath.program({"chown", "-R", "65534:65534", sabath.folder().string()});
  }
  REQUIRE(run({"run", folder}).status == 0);
  const std::string output = output_of(sabath.run_directories().back()).string();
  const Answer answer = run({"run", sabath.shell_recipe("spoiler", "echo spoilt > " + output)});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("ermission denied"));
  CHECK(status_of(output).st_size == 1000);
}

TEST_CASE("cli: an output that was spoilt nevertheless is used by nobody") {
  Sabath sabath;
  const std::string folder = maker(sabath, "1000", R"({"outputs": ["x.bin"], "cache": true})");
  done(sabath, {"run", folder});
  const fs::path output = output_of(sabath.run_directories().back());
  REQUIRE(::chmod(output.c_str(), 0644) == 0);
  write_text(output, "spoilt");
  done(sabath, {"run", folder});
  CHECK(newest(sabath)["stages"][0]["state"] == "ok");
  CHECK(fs::file_size(output_of(sabath.run_directories().back())) == 1000);
  done(sabath, {"run", folder});
  CHECK(newest(sabath)["stages"][0]["state"] == "reused");
  const auto runs = sabath.run_directories();
  CHECK(status_of(output_of(runs[1])).st_ino == status_of(output_of(runs[2])).st_ino);
}

TEST_CASE("cli: outputs that are too large, or that can be executed, are only hashed") {
  Sabath sabath;
  configure(sabath, R"({"largest_output": "1 kB"})");
  const fs::path folder = sabath.recipe("two", R"({"schema": 1, "name": "two",
    "environment": {"layers": []}, "stages": [
      {"name": "make", "run": {"shell": "echo a > {output}/a; head -c 1001 /dev/zero > {output}/b; echo c > {output}/c; echo d > {output}/d; chmod 755 {output}/d"},
       "outputs": ["a", "b", "c", "d"]},
      {"name": "edit", "needs": ["make"], "run": {"shell": "echo more >> {stage.make}/c"}}]})");
  done(sabath, {"run", folder.string()});
  const json outputs = newest(sabath)["outputs"];
  CHECK(outputs[0]["kept"] == "cache");
  CHECK(outputs[1]["kept"] ==
        "hashed only: 1001 B is more than the 1000 B of cache.largest_output");
  CHECK(outputs[2]["kept"] == "cache");
  CHECK(outputs[3]["kept"] == "hashed only: it is executable, and objects are not");
  for (const json& output : outputs) {
    INFO(output.dump());
    CHECK(fs::exists(object_of(sabath, output)) == (output["kept"] == "cache"));
  }
  CHECK(text_of(sabath.run_directories().back() / "outputs/make/c") == "c\nmore\n");
  CHECK((status_of(sabath.run_directories().back() / "outputs/make/b").st_mode & 0200) != 0);
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("hashed only: 1001 B is more"));
}

TEST_CASE("cli: an output that a later stage changes is what it was when the run ended") {
  Sabath sabath;
  const std::string folder = sabath.recipe("two", R"({"schema": 1, "name": "two", "stages": [
      {"name": "a", "run": {"shell": "echo 1 > {output}/o"}, "outputs": ["o"]},
      {"name": "b", "needs": ["a"], "run": {"shell": "echo 2 >> {stage.a}/o"}}]})");
  CHECK_THAT(done(sabath, {"run", folder}).output,
             Contains("output a/o: a later stage changed it"));
  const json output = newest(sabath)["outputs"][0];
  CHECK(output["digest"] == base::sha256_of("1\n2\n").text());
  CHECK(output["as_made"] == base::sha256_of("1\n").text());
  CHECK(output["size_bytes"] == 4);
  CHECK(output["kept"] == "cache");
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("made as sha256:"));
  CHECK(sabath({"verify", "@last"}).status == 0);
  CHECK_THAT(done(sabath, {"repro", "@last"}).output, Contains("PASS"));

  SECTION("a record of an earlier version says nothing of what it is, and of nothing else less") {
    const fs::path file = sabath.run_directories().front() / "record.json";
    json record = json::parse(text_of(file));
    record["outputs"][0] = {{"stage", "a"},
                            {"path", "o"},
                            {"size_bytes", 2},
                            {"digest", output["as_made"]},
                            {"kept", "hashed only: it was changed after it was hashed"}};
    fs::remove(file);
    write_text(file, record.dump());
    const Answer compared = sabath({"compare", "@last~1", "@last"});
    CHECK(compared.status == 3);
    CHECK_THAT(compared.output,
               Contains("INCONCLUSIVE") && Contains("the output a/o") && Contains("later stage"));
    const Answer verified = sabath({"verify", "@last~1"});
    CHECK(verified.status == 3);
    CHECK_THAT(verified.output,
               Contains("note") && Contains("a later stage of the run changed it"));
  }
}

TEST_CASE("cli: with a largest output of 0 only cached stages keep theirs") {
  Sabath sabath;
  configure(sabath, R"({"largest_output": 0})");
  done(sabath, {"run", maker(sabath, "10")});
  CHECK(newest(sabath)["outputs"][0]["kept"] == "hashed only: cache.largest_output is 0");
  done(sabath, {"run", maker(sabath, "10", R"({"outputs": ["x.bin"], "cache": true})")});
  CHECK(newest(sabath)["outputs"][0]["kept"] == "cache");
  CHECK(status_of(output_of(sabath.run_directories().back())).st_nlink == 2);
}

TEST_CASE("cli: outputs outlive the cache, and gc leaves those of runs alone") {
  Sabath sabath;
  const std::string folder = maker(sabath, "5000");
  done(sabath, {"run", folder, "--seed", "1"});
  const fs::path object = object_of(sabath, newest(sabath)["outputs"][0]);
  done(sabath, {"cache", "gc", "--older-than", "0s"});
  CHECK(fs::exists(object));
  fs::remove_all(sabath.run_directories().back());
  done(sabath, {"run", sabath.shell_recipe("other", "true")});
  done(sabath, {"cache", "gc", "--older-than", "0s"});
  CHECK_FALSE(fs::exists(object));
  done(sabath, {"run", folder, "--seed", "1"});
  done(sabath, {"run", folder, "--seed", "1"});
  sabath.program({"chmod", "-R", "u+w", sabath.cache().string()});
  fs::remove_all(sabath.cache());
  CHECK(fs::file_size(output_of(sabath.run_directories().back())) == 5000);
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last"}).output, Contains("PASS"));
}

TEST_CASE("cli: outputs of cached stages are files of their run, wherever the cache is") {
  Sabath sabath;
  const bool is_far = GENERATE(false, true);
  const base::TempDir other("/dev/shm");
  if (is_far) {
    if (status_of(other.path()).st_dev == status_of(sabath.folder()).st_dev) {
      WARN("not executed: /dev/shm is not another file system");
      return;
    }
    sabath.environment()["SABATH_CACHE"] = (other.path() / "cache").string();
  }
  const fs::path mine = sabath.folder() / "mine.csv";
  write_text(mine, "a,1\n");
  const std::string folder =
      sabath.shell_recipe("linked",
                          "cd {output}; ln " + mine.string() + " x.csv || cp " + mine.string() +
                              " x.csv; echo b,1 > y.csv; printf '#!/bin/sh\n' > z; chmod 755 z; "
                              "ln z ../../../../../z; echo loss=1 >&2",
                          "{}",
                          R"({"outputs": ["x.csv", "y.csv", "z"], "cache": true})");
  done(sabath, {"run", folder, "--seed", "1"});
  done(sabath, {"run", folder, "--seed", "1"});
  CHECK(newest(sabath)["stages"][0]["state"] == "reused");
  write_text(mine, "changed\n");
  write_text(sabath.folder() / "z", "changed\n");
  const fs::path cache = is_far ? other.path() / "cache" : sabath.cache();
  sabath.program({"chmod", "-R", "u+w", cache.string()});
  fs::remove_all(cache);
  for (const fs::path& run : sabath.run_directories()) {
    CHECK(text_of(run / "outputs/go/x.csv") == "a,1\n");
    CHECK(text_of(run / "outputs/go/y.csv") == "b,1\n");
    CHECK(text_of(run / "outputs/go/z") == "#!/bin/sh\n");
    CHECK((status_of(run / "outputs/go/z").st_mode & 07777) == 0755);
    CHECK((status_of(run / "outputs/go/x.csv").st_mode & 0133) == 0);
    CHECK(text_of(run / "attempts/1/go/stderr.log") == "loss=1\n");
    for (const auto& entry : fs::recursive_directory_iterator(run))
      CHECK_FALSE(entry.is_symlink());
    CHECK(sabath({"verify", run.filename().string()}).status == 0);
  }
}

TEST_CASE("cli: a large output is hashed with little memory, and shows how far it is") {
  Sabath sabath;
  configure(sabath, R"({"largest_output": "1 MiB"})");
  const std::string folder = sabath.shell_recipe(
      "large", "truncate -s 512M {output}/x.bin", "{}", R"({"outputs": ["x.bin"]})");
  const Answer answer = done(sabath, {"run", folder});
  CHECK(answer.max_rss_bytes < (std::uint64_t{300} << 20U));
  CHECK(newest(sabath)["outputs"][0]["size_bytes"] == 536'870'912);
  CHECK_THAT(text_of(sabath.run_directories().back() / "exec.log"), Contains("hashing x.bin"));
}

TEST_CASE("cli: an output that somebody still writes to is not kept, and its stage not reused") {
  Sabath sabath;
  constexpr std::uintmax_t large = 192U
                                   << 20U;  // a starved writer, too, gets a turn while it is hashed
  const fs::path begun = sabath.folder() / "begun";
  const std::string folder =
      sabath.shell_recipe("written",
                          "truncate -s " + std::to_string(large) +
                              " {output}/whole; mv {output}/whole {output}/x.bin; while [ ! -e " +
                              begun.string() + " ]; do sleep 0.01; done",
                          "{}",
                          R"({"outputs": ["x.bin"], "cache": true})");
  std::atomic<bool> over = false;
  // Not a process of the stage's, which would be ended with it.
  std::jthread writer([&] {
    while (!over && (sabath.run_directories().empty() ||
                     !fs::exists(output_of(sabath.run_directories().back()))))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (over) return;
    std::ofstream file(output_of(sabath.run_directories().back()), std::ios::app);
    file << "b" << std::flush;
    write_text(begun, "");
    while (!over) {
      file << "b" << std::flush;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  const Answer first = sabath({"run", folder});
  over = true;
  writer.join();
  INFO(first.errors);
  REQUIRE(first.status == 0);
  const json record = newest(sabath);
  CHECK_THAT(record["outputs"][0]["kept"].get<std::string>(), StartsWith("hashed only: it was "));
  CHECK_THAT(text_of(sabath.run_directories().back() / "exec.log"), Contains("cannot be reused"));
  CHECK(fs::file_size(output_of(sabath.run_directories().back())) > large);
  done(sabath, {"run", folder});
  CHECK(newest(sabath)["stages"][0]["state"] == "ok");
  CHECK(newest(sabath)["outputs"][0]["kept"] == "cache");
  done(sabath, {"run", folder});
  CHECK(newest(sabath)["stages"][0]["state"] == "reused");
  CHECK(fs::file_size(output_of(sabath.run_directories().back())) == large);
}

TEST_CASE("cli: a program that a cached stage makes can be run where the stage is reused, too") {
  Sabath sabath;
  const fs::path folder = sabath.recipe("tool", R"({"schema": 1, "name": "tool",
    "environment": {"layers": []}, "stages": [
      {"name": "make", "cache": true, "outputs": ["tool", "data"], "run": {"shell":
       "printf '#!/bin/sh\\necho it runs\\n' > {output}/tool; chmod 750 {output}/tool; echo 1 > {output}/data"}},
      {"name": "use", "needs": ["make"], "run": {"shell": "{stage.make}/tool"}}]})");
  for (const char* state : {"ok", "reused", "reused"}) {
    done(sabath, {"run", folder.string()});
    CHECK(newest(sabath)["stages"][0]["state"] == state);
    const fs::path run = sabath.run_directories().back();
    CHECK((status_of(run / "outputs/make/tool").st_mode & 07777) == 0750);
    CHECK(text_of(run / "attempts/1/use/stdout.log") == "it runs\n");
    CHECK(newest(sabath)["outputs"][0]["kept"] == "cache");
  }
  const auto runs = sabath.run_directories();
  CHECK(sabath({"verify"}).status == 0);
  // Whatever a record says, nobody else may write to it.
  const fs::path stages = sabath.cache() / "stages";
  const std::string record = fs::recursive_directory_iterator(stages)->path().string();
  sabath.program({"sed", "-i", "s/\"750\"/\"777\"/", record});
  done(sabath, {"run", folder.string()});
  CHECK(newest(sabath)["stages"][0]["state"] == "reused");
  const fs::path opened = sabath.run_directories().back() / "outputs/make/tool";
  CHECK((status_of(opened).st_mode & 07777) == 0755);
  // Each has its own: who changes it changes nobody else's.
  write_text(runs[1] / "outputs/make/tool", "spoilt");
  CHECK_THAT(text_of(runs[2] / "outputs/make/tool"), Contains("it runs"));
  CHECK(sabath({"verify"}).status == 0);
}

TEST_CASE("cli: of predictions the churn is told beside what their values hold") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "classifier",
      R"(printf 'label,cat,dog\n1,0.2,0.8\n0,0.9,0.1\n{param.last},0.4{param.last},0.46\n' > {output}/p.csv)",
      R"({"parameters": {"last": {"type": "int", "default": 0, "affects": "execution"}},
          "compare": {"p.csv": {"tolerance": {"absolute": 2}, "predictions": {"label": "labels"}}}})",
      R"({"outputs": ["p.csv"]})");
  done(sabath, {"run", recipe, "--seed", "1"});
  done(sabath, {"run", recipe, "--seed", "1", "--set", "last=1"});
  const Answer answer = done(sabath, {"compare", "@last~1", "@last"});
  CHECK_THAT(answer.output,
             Contains("churn of go/p.csv:/label: 33.33 % of 3 predictions are others in B"));
  const json comparison =
      json::parse(done(sabath, {"compare", "@last", "@last~1", "--json"}).output);
  const auto label = std::find_if(
      comparison["outputs"].begin(), comparison["outputs"].end(), [](const json& item) {
        return item["name"] == "go/p.csv:/label";
      });
  REQUIRE(label != comparison["outputs"].end());
  CHECK((*label)["predictions"] == 3);
  CHECK((*label)["churn"].get<double>() == Approx(1.0 / 3));
}
