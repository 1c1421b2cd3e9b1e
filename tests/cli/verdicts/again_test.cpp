// The command after `again:`, typed into a shell as it is printed, gives the same bits.
#include "support/answers.hpp"

#include <sabath/base/process/process.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sched.h>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

bool has_two_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 2;
}

/// A code whose result depends on how many CPUs it may use, a variable, a parameter and the seed.
class Sensitive {
 public:
  explicit Sensitive(const std::string& resources = "{}") {
    recipe = sabath.shell_recipe(
        "sensitive",
        R"(echo "$(nproc --all) $(env -u OMP_NUM_THREADS nproc) $GOMP_SPINCOUNT {param.rate} {seed}" > {output}/r.txt; )"
        R"(echo "{{\"step\": 1, \"loss\": $(env -u OMP_NUM_THREADS nproc).$GOMP_SPINCOUNT}}" >> $SABATH_METRICS)",
        R"({"parameters": {"rate": {"type": "float", "default": 1}},
            "metrics": {"loss": {"unit": "1"}}})",
        R"({"outputs": ["r.txt"], "resources": )" + resources + "}");
    fs::create_directories(sabath.folder() / "bin");
    fs::create_symlink(SABATH_PROGRAM, sabath.folder() / "bin/sabath");
    session()["GOMP_SPINCOUNT"] = "17";
  }

  sabath::base::Environment& session() { return sabath.environment(); }

  /// Types a command into a shell, which has none of the variables that the first run had.
  Answer type(const std::string& command) {
    const auto before = session();
    session().erase("GOMP_SPINCOUNT");
    session()["PATH"] = (sabath.folder() / "bin").string() + ":" + session()["PATH"];
    const Answer answer = sabath.program({"sh", "-c", command});
    session() = before;
    INFO(command << "\n" << answer.output << answer.errors);
    REQUIRE(answer.status == 0);
    return answer;
  }

  /// Every run so far: typed again it is equal to the bit.
  void repeats_all(const std::string& contains) {
    const auto runs = sabath.run_directories();
    REQUIRE_FALSE(runs.empty());
    for (const fs::path& run : runs) {
      const std::string id = run.filename();
      const std::string command = json::parse(text_of(run / "record.json"))["reproduce"];
      INFO(command);
      CHECK_THAT(command, Contains("sabath run ") && Contains(contains));
      CHECK_THAT(done(sabath, {"show", id}).output, Contains(command));
      type(command);
      const std::string again = sabath.run_directories().back().filename();
      REQUIRE(again != id);
      const Answer compared = sabath({"compare", id, again, "--require", "bitwise"});
      INFO(compared.output);
      CHECK(compared.status == 0);
    }
  }

  Sabath sabath{};
  std::string recipe{};
};

std::string again_line(const std::string& text) {
  const auto at = text.rfind("again: ");
  REQUIRE(at != std::string::npos);
  return text.substr(at + 7, text.find('\n', at) - at - 7);
}

}  // namespace

TEST_CASE("again: a single run has its variables, parameters and tags") {
  Sensitive code;
  const Answer first =
      done(code.sabath, {"run", code.recipe, "--set", "rate=0.29937728000000002", "--tag", "x"});
  CHECK_THAT(again_line(first.output), Contains("GOMP_SPINCOUNT=17") && Contains("--tag x"));
  CHECK_THAT(again_line(first.output), !Contains("--cpus"));
  code.repeats_all("--seed ");
}

TEST_CASE("again: a run that its caller bound, and one that --cpus binds") {
  if (!has_two_cpus()) {
    WARN("SKIPPED: one CPU may be used here");
    return;
  }
  Sensitive code;
  const Answer bound = code.sabath.program(
      {"sh",
       "-c",
       std::string("cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//'); exec taskset -c $cpu ") +
           SABATH_PROGRAM + " run " + code.recipe});
  INFO(bound.output + bound.errors);
  REQUIRE(bound.status == 0);
  done(code.sabath, {"run", code.recipe, "--cpus", "1", "--seed", "5"});
  const json plan = json::parse(text_of(code.sabath.run_directories().back() / "plan.json"));
  CHECK(plan["place"]["cpus"].size() == 1);
  code.repeats_all("--cpus 1");
}

TEST_CASE("again: runs of a study, and those that --jobs bound to a core each") {
  if (!has_two_cpus()) {
    WARN("SKIPPED: one CPU may be used here");
    return;
  }
  Sensitive code;
  const Answer study =
      done(code.sabath, {"run", code.recipe, "--sweep", "rate=1,2", "--seeds", "1"});
  CHECK_THAT(again_line(study.output), Contains("GOMP_SPINCOUNT=17"));
  code.repeats_all("--seed 1");
  Sensitive bound(R"({"cpus": 1})");
  const Answer jobs =
      done(bound.sabath, {"run", bound.recipe, "--seeds", "1..2", "--jobs", "2", "--fresh"});
  CHECK_THAT(again_line(jobs.output), Contains("GOMP_SPINCOUNT=17") && Contains("--jobs 2"));
  bound.repeats_all("--cpus ");
  // The study itself, typed again.
  bound.type(again_line(jobs.output));
}

TEST_CASE("again: values of the session that the recipe replaces are noted, and left out") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "replaced",
      "echo $TF_DETERMINISTIC_OPS $MKL_DYNAMIC $GOMP_SPINCOUNT > {output}/r.txt",
      R"({"deterministic": true})",
      R"({"outputs": ["r.txt"], "variables": {"MKL_DYNAMIC": "FALSE"}})");
  sabath.environment().merge(sabath::base::Environment{{"TF_DETERMINISTIC_OPS", "0"},
                                                       {"MKL_DYNAMIC", "TRUE"},
                                                       {"OMP_DYNAMIC", "FALSE"},
                                                       {"GOMP_SPINCOUNT", "17"}});
  const bool is_study = GENERATE(false, true);
  const Answer answer = done(sabath, {"run", recipe, is_study ? "--seeds" : "--seed", "1"});
  CHECK(text_of(sabath.run_directories().back() / "outputs/go/r.txt") == "1 FALSE 17\n");
  CHECK_THAT(
      answer.errors,
      Contains("the recipe sets TF_DETERMINISTIC_OPS=1; the session's value '0' is not used") &&
          Contains("the recipe sets MKL_DYNAMIC=FALSE; the session's value 'TRUE' is not used") &&
          !Contains("sets OMP_DYNAMIC"));
  CHECK_THAT(again_line(answer.output),
             StartsWith("env GOMP_SPINCOUNT=17 sabath ") && !Contains("DYNAMIC"));
}

TEST_CASE("again: what sabath run cannot repeat says why, and names repro") {
  Sensitive code;
  done(code.sabath, {"run", code.recipe, "--seed", "1"});
  const std::string first = code.sabath.run_directories().back().filename();
  done(code.sabath, {"repro", "@last"});
  const Answer shown = done(code.sabath, {"show", "@last"});
  CHECK_THAT(shown.output, Contains("sabath repro ") && Contains("cannot repeat it"));
  CHECK_THAT(shown.output, Contains(first));
}

TEST_CASE("again: CPUs that there are not, or beside a study or a site, are refused") {
  const Sensitive code;
  const auto refuses = [&](std::vector<std::string> further, const std::string& why) {
    further.insert(further.begin(), {"run", code.recipe});
    const Answer answer = code.sabath(further);
    INFO(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(why));
  };
  refuses({"--cpus", "100000"}, "--cpus 100000: ");
  refuses({"--gpus", "1000"}, "GPU(s) may be used here");
  refuses({"--cpus", "1", "--seeds", "1..2"}, "works for one run only");
  refuses({"--cpus", "1", "--on", "here"}, "cannot be used with --on");
  refuses({"--cpus", "0"}, "--cpus");
  CHECK(code.sabath.count_runs() == 0);
}
