// `sabath explain` and variables of the session: taken away, or set where this session has the
// value.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string keys = R"({"parameters": {"decoy": {"type": "int", "default": 1,
  "affects": "execution"}}, "metrics": {"loss": {"unit": "1", "better": "lower"}}})";

/// The loss is the variable's, or 1.
std::string factor(const Sabath& sabath) {
  return sabath.shell_recipe(
      "factor",
      R"(echo "{{\"step\": 1, \"loss\": $((${{MYFACTOR:-1}} % 7))}}" >> $SABATH_METRICS)",
      keys);
}

void run_one(Sabath& sabath,
             const std::string& folder,
             const std::string& tag,
             const std::string& value,
             const std::string& decoy = "1") {
  sabath.environment().erase("MYFACTOR");
  if (!value.empty()) sabath.environment()["MYFACTOR"] = value;
  done(sabath, {"run", folder, "--seed", "1", "--tag", tag, "--set", "decoy=" + decoy});
}

json explained(const Sabath& sabath) {
  return answered(sabath, {"explain", "tag=a", "tag=b"});
}

std::string printed(const Sabath& sabath) {
  return sabath({"explain", "tag=a", "tag=b", "--budget", "0"}).output;
}

/// No file of the home has the value.
void check_value_nowhere(const Sabath& sabath, const std::string& value) {
  for (const auto& entry : fs::recursive_directory_iterator(sabath.home())) {
    if (!entry.is_regular_file()) continue;
    INFO(entry.path());
    CHECK(text_of(entry.path()).find(value) == std::string::npos);
  }
}

const json only_factor = {"variable MYFACTOR"};

}  // namespace

TEST_CASE("cli: explain sets a variable that only B had, where this session has its value") {
  Sabath sabath;
  const std::string folder = factor(sabath);
  run_one(sabath, folder, "a", "");
  run_one(sabath, folder, "b", "27182818284591", "2");
  const json found = explained(sabath);
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == only_factor);
  CHECK(found["impossible"].empty());
  const std::string text = printed(sabath);
  CHECK_THAT(text, Contains("variable MYFACTOR alone makes them differ"));
  CHECK_THAT(text, !Contains("27182818284591"));
  CHECK_THAT(found.dump(), !Contains("27182818284591"));
  check_value_nowhere(sabath, "27182818284591");
  // What a budget counts: A again, all, each alone, and two confirming runs.
  CHECK(found["hybrids"].size() == 6);

  SECTION("what was made is found again, also where the variable is not set") {
    const std::size_t runs = sabath.count_runs();
    CHECK(answered(sabath, {"explain", "tag=a", "tag=b", "--budget", "0"})["status"] == 0);
    CHECK(sabath.count_runs() == runs);
  }
}

TEST_CASE("cli: explain takes a variable away that only A had, where this session has its value") {
  Sabath sabath;
  const std::string folder = factor(sabath);
  run_one(sabath, folder, "b", "", "2");
  run_one(sabath, folder, "a", "27182818284591");
  const json found = explained(sabath);
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == only_factor);
  check_value_nowhere(sabath, "27182818284591");
}

TEST_CASE("cli: explain does not try a variable whose value this session does not have") {
  Sabath sabath;
  const std::string folder = factor(sabath);
  SECTION("only B had it: runs that are made have none, as A") {
    run_one(sabath, folder, "a", "");
    run_one(sabath, folder, "b", "27182818284591", "2");
    sabath.environment()["MYFACTOR"] = "3";
    const json found = explained(sabath);
    INFO(found.dump(1));
    CHECK(found["status"] == 3);
    CHECK(found["hybrids"][0]["verdict"] == "PASS");
    CHECK(found["cause"].empty());
    CHECK_THAT(
        found["impossible"].dump(),
        Contains("variable MYFACTOR: not tried: its value was not kept; set it as B had it"));
    CHECK_THAT(found["reason"].get<std::string>(), Contains("comes from what cannot be made"));
    // With the value the same command goes on.
    sabath.environment()["MYFACTOR"] = "27182818284591";
    CHECK(explained(sabath)["cause"] == only_factor);
  }
  SECTION("only A had it: A again is not A") {
    run_one(sabath, folder, "a", "27182818284591");
    run_one(sabath, folder, "b", "", "2");
    const json found = explained(sabath);
    INFO(found.dump(1));
    CHECK(found["status"] == 3);
    CHECK_THAT(
        found["impossible"].dump(),
        Contains("variable MYFACTOR: not tried: its value was not kept; set it as A had it"));
    CHECK_THAT(found["reason"].get<std::string>(),
               Contains("this session does not have the value that A had of MYFACTOR"));
    // A run of that session is not taken for one of this.
    sabath.environment()["MYFACTOR"] = "27182818284591";
    CHECK(explained(sabath)["cause"] == only_factor);
  }
  SECTION("both had it, with other values: A's is here") {
    run_one(sabath, folder, "b", "3", "2");
    run_one(sabath, folder, "a", "27182818284591");
    const json found = explained(sabath);
    INFO(found.dump(1));
    CHECK(found["status"] == 3);
    CHECK(found["hybrids"][0]["verdict"] == "PASS");
    CHECK_THAT(found["impossible"].dump(), Contains("do A again by 'sabath repro'"));
    CHECK_THAT(found["reason"].get<std::string>(), Contains("comes from what cannot be made"));
  }
  SECTION("both had it, with other values: B's is here") {
    run_one(sabath, folder, "a", "27182818284591");
    run_one(sabath, folder, "b", "3", "2");
    const json found = explained(sabath);
    INFO(found.dump(1));
    CHECK(found["status"] == 3);
    CHECK(found["hybrids"][0]["verdict"] == "FAIL");
    CHECK_THAT(found["reason"].get<std::string>(),
               Contains("this session does not have the value that A had of MYFACTOR"));
  }
}

TEST_CASE("cli: explain tries several variables of the session one by one") {
  Sabath sabath;
  const std::string folder = factor(sabath);
  run_one(sabath, folder, "a", "");
  sabath.environment()["OTHER_DECOY"] = "1";
  run_one(sabath, folder, "b", "2");
  const json found = explained(sabath);
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["changes"].size() == 2);
  CHECK(found["cause"] == only_factor);
}
