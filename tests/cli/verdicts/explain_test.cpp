// `sabath explain`: hybrids of everything that a run can be made with, each beside something that
// differs and changes nothing; and what is told where there is no cause to be found.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <thread>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Explains the two runs that have these tags.
json explained(const Sabath& sabath, const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"explain", "tag=a", "tag=b"};
  words.insert(words.end(), further.begin(), further.end());
  return answered(sabath, words);
}

/// The keys of a recipe: parameters that change nothing but the execution, and a loss.
std::string keys(const std::string& parameters = "") {
  return R"({"parameters": {)" + parameters +
         R"("decoy": {"type": "int", "default": 1, "affects": "execution"}},
         "metrics": {"loss": {"unit": "1", "better": "lower"}}})";
}

std::string parameter(const std::string& name) {
  return "\"" + name + R"(": {"type": "int", "default": 1, "affects": "execution"}, )";
}

std::string tell(const std::string& loss) {
  return R"(echo "{{\"step\": 1, \"loss\": )" + loss + R"(}}" >> $SABATH_METRICS)";
}

void check_cause(const json& found, const std::string& cause) {
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == json{cause});
  CHECK(found["changes"].size() == 2);  // the cause and the decoy
}

}  // namespace

TEST_CASE("cli: explain finds the edited script, though it wants a parameter more and one less") {
  const Sabath sabath;
  const auto write = [&](const std::string& name, const std::string& loss) {
    const std::string folder = sabath.recipe("coded",
                                             R"({"schema": 1, "name": "coded",
      "environment": {"layers": []},
      "parameters": {")" + name + R"(": {"type": "int", "default": 3},
                     "decoy": {"type": "int", "default": 1, "affects": "execution"}},
      "stages": [{"name": "go", "run": ["sh", "{code}/train.sh", "{param.)" +
                                                 name + R"(}", "{param.decoy}"]}],
      "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
    fs::create_directories(fs::path(folder) / "code");
    write_text(fs::path(folder) / "code/train.sh",
               "echo \"{\\\"step\\\": 1, \\\"loss\\\": " + loss + "}\" >> $SABATH_METRICS\n");
    return folder;
  };
  done(sabath, {"run", write("width", "1.$1"), "--seed", "1", "--tag", "a"});
  done(sabath, {"run", write("depth", "2.$1"), "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  check_cause(explained(sabath), "code");
}

TEST_CASE("cli: explain finds the data set of another version") {
  const Sabath sabath;
  const fs::path source = sabath.folder() / "number.txt";
  write_text(source, "1.5\n");
  sabath.asset("number",
               R"({"schema": 1, "kind": "dataset", "name": "number",
                   "files": [{"path": "number.txt", "sources": ["file://)" +
                   source.string() + R"("]}]})");
  std::string further = keys();
  further.insert(1, R"("datasets": {"train": "number"}, )");
  const std::string folder =
      sabath.shell_recipe("reads", tell("$(cat {dataset.train}/number.txt)"), further);
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  write_text(source, "2.5\n");
  done(sabath, {"fetch", "number", "--refresh"});
  done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  check_cause(explained(sabath), "data train");
}

TEST_CASE("cli: another choice of data sets is a cause, and no edited recipe") {
  const Sabath sabath;
  for (const std::string name : {"small", "large"}) {
    const fs::path source = sabath.folder() / (name + ".txt");
    write_text(source, name == "small" ? "1.5\n" : "2.5\n");
    sabath.asset(name,
                 R"({"schema": 1, "kind": "dataset", "name": ")" + name +
                     R"(", "files": [{"path": "number.txt", "sources": ["file://)" +
                     source.string() + R"("]}]})");
  }
  std::string further = keys(R"("size": {"type": "enum", "values": ["s", "l"], "default": "s"}, )");
  further.insert(1, R"("datasets": {"train": [{"asset": "small", "when": {"size": "s"}},
                                             {"asset": "large", "when": {"size": "l"}}]}, )");
  const std::string folder =
      sabath.shell_recipe("choice", tell("$(cat {dataset.train}/number.txt)"), further);
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath, {"run", folder, "--seed", "1", "--set", "size=l", "--tag", "b"});
  const Answer compared = sabath({"compare", "tag=a", "tag=b"});
  CHECK(compared.status == 4);
  CHECK_THAT(compared.output, Contains("data: train") && !Contains("definition"));
  CHECK(sabath({"compare", "tag=a", "tag=b", "--across", "data,parameters"}).status == 1);
  const Answer groups = sabath({"compare", "recipe=choice", "--by", "size", "--across", "data"});
  CHECK_THAT(groups.output, Contains("size l") && !Contains("definitions"));
  const json found = explained(sabath);
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == json{"data train"});
  CHECK(found["changes"].size() == 2);  // and the parameter
}

TEST_CASE("cli: explain finds the environment of another variant") {
  const Sabath sabath;
  const std::string folder = sabath.recipe("variants", R"({"schema": 1, "name": "variants",
    "environment": {"variants": ["plain", "loud"], "layers": [
      {"kind": "host", "name": "quiet", "variants": ["plain"], "commands": ["sh"], "variables": {"MODE": "1"}},
      {"kind": "host", "name": "louder", "variants": ["loud"], "commands": ["sh"], "variables": {"MODE": "2"}}]},
    "parameters": {"decoy": {"type": "int", "default": 1, "affects": "execution"}},
    "stages": [{"name": "go", "run": ["sh", "-c", "echo \"{{\\\"step\\\": 1, \\\"loss\\\": $MODE}}\" >> $SABATH_METRICS"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath,
       {"run", folder, "--seed", "1", "--variant", "loud", "--set", "decoy=2", "--tag", "b"});
  check_cause(explained(sabath), "environment");
}

TEST_CASE("cli: explain finds the number of cores that a run of a study was bound to") {
  if (std::thread::hardware_concurrency() < 2) {
    WARN("one core: runs beside one another have no cores of their own");
    return;
  }
  const Sabath sabath;
  const std::string folder = sabath.shell_recipe("cores", tell("$(nproc)"), keys());
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath, {"run", folder, "--seed", "1", "--sweep", "decoy=2,3", "--jobs", "2", "--tag", "b"});
  check_cause(answered(sabath, {"explain", "tag=a", "tag=b,decoy=2"}), "cores");
}

TEST_CASE("cli: explain finds the variable that chooses among ways to compute") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("threads", tell("1.${{OMP_NUM_THREADS:-9}}"), keys());
  sabath.environment()["OMP_NUM_THREADS"] = "1";
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  sabath.environment().erase("OMP_NUM_THREADS");
  done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  check_cause(explained(sabath), "variable OMP_NUM_THREADS");
}

TEST_CASE("cli: explain finds the variable that leads to other code, and compare names it") {
  Sabath sabath;
  for (const std::string loss : {"1.5", "2.5"}) {
    fs::create_directories(sabath.folder() / ("loss-" + loss));
    write_text(sabath.folder() / ("loss-" + loss) / "value", loss);
  }
  const auto folder = sabath.shell_recipe("led", tell("$(cat ${{PYTHONPATH}}/value)"), keys());
  const auto run_with = [&](const std::string& loss, const std::string& decoy) {
    sabath.environment()["PYTHONPATH"] = (sabath.folder() / ("loss-" + loss)).string();
    done(sabath,
         {"run",
          folder,
          "--seed",
          "1",
          "--set",
          "decoy=" + decoy,
          "--tag",
          decoy == "1" ? "a" : "b"});
  };
  run_with("1.5", "1");
  run_with("2.5", "2");
  CHECK_THAT(sabath({"compare", "tag=a", "tag=b"}).output,
             Contains("variables: PYTHONPATH") && !Contains("nothing that is recorded differs"));
  CHECK_THAT(json::parse(sabath.newest())["reproduce"].get<std::string>(),
             Catch::StartsWith("env ") && Contains("PYTHONPATH=" + sabath.folder().string()));
  // As the record has it, whatever this session has.
  CHECK_THAT(done(sabath, {"repro", "tag=a", "--require", "bitwise"}).output,
             Contains("PASS") && Contains("nothing differs"));
  check_cause(explained(sabath), "variable PYTHONPATH");
}

TEST_CASE("cli: explain makes no run without the library path that it has itself") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("loaded", tell("1${{LD_LIBRARY_PATH:+.5}}"), keys());
  const std::string path = (sabath.folder() / "lib").string();
  sabath.environment()["LD_LIBRARY_PATH"] = path;
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  sabath.environment().erase("LD_LIBRARY_PATH");
  done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  SECTION("it has one") {
    sabath.environment()["LD_LIBRARY_PATH"] = path;
    const json found = explained(sabath);
    INFO(found.dump(1));
    CHECK(found["status"] == 3);
    CHECK(found["changes"].size() == 1);
    REQUIRE(found["impossible"].size() == 1);
    CHECK_THAT(found["impossible"][0].get<std::string>(),
               Contains("variable LD_LIBRARY_PATH: B had none") && Contains("unset it"));
  }
  SECTION("it has none") {
    check_cause(explained(sabath), "variable LD_LIBRARY_PATH");
  }
}

TEST_CASE("cli: explain goes on where a hybrid fails, and does not make that one again") {
  const Sabath sabath;
  // x and y go only together.
  const auto run_both = [&](const std::string& loss) {
    const std::string folder =
        sabath.shell_recipe("picky",
                            "[ {param.x} = {param.y} ] || exit 7; " + tell(loss),
                            keys(parameter("x") + parameter("y")));
    done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
    done(sabath,
         {"run",
          folder,
          "--seed",
          "1",
          "--set",
          "x=2",
          "--set",
          "y=2",
          "--set",
          "decoy=2",
          "--tag",
          "b"});
  };
  SECTION("the cause is another") {
    run_both("1.{param.decoy}");
    const json found = explained(sabath);
    CHECK(found["status"] == 0);
    CHECK(found["cause"] == json{"parameter decoy"});
    CHECK(found["failed"] == json{json{"parameter x"}, json{"parameter y"}});
    CHECK(found["hybrids"].size() >= 4);
  }
  SECTION("the cause is one of those that go only together") {
    run_both("1.{param.x}");
    const json found = explained(sabath);
    CHECK(found["status"] == 3);
    CHECK(found["cause"].empty());
    CHECK(found["complete"] == false);
    CHECK(found["untried"]["sets"] == 0);
    REQUIRE(found["sufficient"].size() == 1);
    CHECK(found["sufficient"][0]["changes"] == json{"parameter x", "parameter y"});
    CHECK(found["sufficient"][0]["minimal"] == false);
    CHECK_THAT(found["reason"].get<std::string>(),
               Contains("have no result: ") && Contains("parameter x;"));
    const auto failed = [](const json& hybrid) {
      return hybrid["verdict"] == "INCONCLUSIVE" &&
             hybrid["reason"].get<std::string>().find("failed") != std::string::npos;
    };
    CHECK(std::any_of(found["hybrids"].begin(), found["hybrids"].end(), failed));
    const std::size_t runs = sabath.count_runs();
    const Answer again = sabath({"explain", "tag=a", "tag=b", "--budget", "0"});
    CHECK(again.status == 3);
    CHECK_THAT(
        again.output,
        Contains("parameter x, parameter y (a part of these may be enough)") && Contains("failed"));
    CHECK(sabath.count_runs() == runs);
  }
}

TEST_CASE("cli: explain says that A is not repeatable here, or differs in what nobody recorded") {
  const Sabath sabath;
  // Found by a way that nobody can see in the recipe.
  const fs::path outside = sabath.home() / "outside";
  fs::create_directories(sabath.home());
  const std::string folder =
      sabath.shell_recipe("moody", tell("$(cat $SABATH_RUN_DIR/../../outside)"), keys());
  write_text(outside, "1");
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  write_text(outside, "2");
  done(sabath, {"run", folder, "--seed", "1", "--tag", "b"});
  SECTION("as it was for A") {
    write_text(outside, "1");
    const json found = explained(sabath);
    CHECK(found["status"] == 3);
    CHECK_THAT(found["reason"].get<std::string>(), Contains("A done again agrees with A"));
  }
  SECTION("as it was for B") {
    const json found = explained(sabath);
    CHECK(found["status"] == 3);
    // Only as root the kernel reports each file that is opened.
    const auto names_file =
        Contains("does not agree with A: the file " + outside.string() + " has other content now");
    CHECK_THAT(found["reason"].get<std::string>(),
               names_file || Contains("nothing that is recorded differs"));
    done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "c"});
    const json changed = answered(sabath, {"explain", "tag=a", "tag=c"});
    CHECK_THAT(changed["reason"].get<std::string>(),
               names_file || Contains("none of what can be changed here explains that"));
  }
}

TEST_CASE("cli: explain that a signal ends leaves no folder behind") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "large", "echo {param.decoy} > {output}/x.bin", keys(), R"({"outputs": ["x.bin"]})");
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  // Zeros in no space, which take a minute to be found other than what the record says.
  const fs::path output = sabath.run_directories().front() / "outputs/go/x.bin";
  fs::remove(output);
  write_text(output, "");
  fs::resize_file(output, std::uintmax_t{1} << 36U);
  const fs::path work = sabath.home() / "state/explain";
  Running explain = sabath.start({"explain", "tag=a", "tag=b"});
  const auto is_under_way = [&] {
    return fs::exists(work) && !fs::is_empty(work) &&
           fs::exists(fs::directory_iterator(work)->path() / "b");
  };
  REQUIRE(eventually(is_under_way));
  explain.signal(GENERATE(SIGINT, SIGTERM));
  CHECK(explain.wait().status == 130);
  CHECK(fs::is_empty(work));
}

TEST_CASE("cli: explain names no cause that does not come out the same once more") {
  const Sabath sabath;
  const std::string counter = "$SABATH_RUN_DIR/../../counter";
  // With decoy=2 the first two runs come out otherwise, and no later ones.
  const std::string folder =
      sabath.shell_recipe("fading",
                          "n=0; if [ {param.decoy} = 2 ]; then echo x >> " + counter +
                              "; [ $(wc -l < " + counter + ") -gt 2 ] || n=5; fi; " + tell("1.$n"),
                          keys());
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath, {"run", folder, "--seed", "1", "--set", "decoy=2", "--tag", "b"});
  const json found = explained(sabath);
  CHECK(found["status"] == 3);
  CHECK(found["cause"].empty());
  CHECK_THAT(found["reason"].get<std::string>(),
             Contains("A with B's parameter decoy did not come out as before"));
}

TEST_CASE("cli: explain refuses runs of two recipes before it makes a run") {
  Sabath sabath;
  done(sabath, {"run", sabath.shell_recipe("one", tell("1"), keys()), "--tag", "a"});
  done(sabath, {"run", sabath.shell_recipe("other", tell("2"), keys()), "--tag", "b"});
  const json found = explained(sabath);
  INFO(found.dump(1));
  CHECK(found["status"] == 4);
  CHECK(found["verdict"] == "NOT-COMPARABLE");
  CHECK_THAT(found["verdict_reason"].get<std::string>(), Contains("('one' in A, 'other' in B)"));
  CHECK(sabath.count_runs() == 2);
  CHECK_THAT(sabath({"explain", "tag=a", "tag=b"}).output,
             Contains("RESULT") && Contains("NOT-COMPARABLE: recipe name differs"));
}
