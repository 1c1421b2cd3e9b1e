// Two files, and outputs whose content is gone.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string made(const std::string& name) {
  return std::string(SABATH_TEST_DATA) + "/arrays/" + name;
}

/// A recipe that writes an array of 2 MiB, in which one number says which run it is.
std::string big_output(const Sabath& sabath) {
  return sabath.shell_recipe(
      "big",
      "awk 'BEGIN {{ print \"x,y\"; for (i = 0; i < 120000; ++i) "
      "printf \"%d,%.6f\\n\", i, (i == 77777 ? {param.it} : i) / 8 }}' > {output}/x.csv",
      R"({"parameters": {"it": {"type": "float", "default": 1, "affects": "execution"}},
          "compare": {"x.csv": {"as": "csv", "tolerance": {"relative": 1e-3}}}})",
      R"({"outputs": ["x.csv"]})");
}

void run(const Sabath& sabath, const std::string& recipe, const std::string& it) {
  const Answer answer = sabath({"run", recipe, "--set", "it=" + it});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
}

}  // namespace

TEST_CASE("compare: two files are compared array by array, of whatever format") {
  const Sabath sabath;
  const Answer equal = sabath({"compare", made("c.npy"), made("big.npy"), "--require", "bitwise"});
  CHECK(equal.status == 0);
  CHECK_THAT(equal.output, Contains("equal to the bit") && Contains("RESULT"));
  const Answer orders =
      sabath({"compare", made("c.npy"), made("fortran.npy"), "--require", "bitwise"});
  CHECK(orders.status == 0);
  const Answer archives =
      sabath({"compare", made("stored.npz"), made("deflated.npz"), "--require", "bitwise"});
  CHECK(archives.status == 0);
  const Answer other = sabath({"compare", made("c.npy"), made("texts.npy"), "--json"});
  CHECK(other.status == 1);
  const json answer = json::parse(other.output);
  CHECK(answer["outputs"][0]["structure"] == "float64 in A, text in B");
  CHECK(answer["result"] == "FAIL");
  CHECK(answer["a"] == made("c.npy"));
}

TEST_CASE("compare: where two files differ is told, and a tolerance may allow it") {
  const Sabath sabath;
  const fs::path a = sabath.folder() / "a.csv";
  const fs::path b = sabath.folder() / "b.csv";
  write_text(a, "step,loss\n1,0.5\n2,0.25\n");
  write_text(b, "step,loss\n1,0.5\n2,0.2501\n");
  const Answer answer = sabath({"compare", a.string(), b.string()});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output,
             Contains("/loss") && Contains("[1]") && Contains("0.25 against 0.2501"));
  CHECK(sabath({"compare", a.string(), b.string(), "--rtol", "1e-3"}).status == 0);
  CHECK(sabath({"compare", a.string(), b.string(), "--as", "bytes"}).status == 1);
  CHECK(sabath({"compare", b.string(), b.string(), "--as", "bytes"}).status == 0);
  write_text(b, "step,loss\n1,0.5,7\n2,0.25\n");
  const Answer ragged = sabath({"compare", a.string(), b.string()});
  CHECK(ragged.status == 11);
  CHECK_THAT(ragged.errors, Contains("hint: '--as bytes' compares the bytes of files"));
  CHECK_THAT(ragged.errors, Contains("b.csv") && Contains("row 1 has 3 cells"));
  CHECK(sabath({"compare", a.string(), b.string(), "--as", "bytes"}).status == 1);
  CHECK(sabath({"compare", b.string(), b.string()}).status == 0);
}

TEST_CASE("compare: bare numbers are of the type that is said") {
  const Sabath sabath;
  const fs::path a = sabath.folder() / "a.bin";
  const fs::path b = sabath.folder() / "b.bin";
  std::ofstream(a, std::ios::binary) << std::string("\0\0\x80\x3f", 4);
  std::ofstream(b, std::ios::binary) << std::string("\1\0\x80\x3f", 4);
  const std::vector<std::string> files{"compare", a.string(), b.string()};
  const auto as = [&](const std::string& format) {
    auto arguments = files;
    arguments.insert(arguments.end(), {"--as", format, "--require", "ulp"});
    return sabath(arguments);
  };
  CHECK(as("raw:float32").status == 0);
  CHECK(as("raw:int32").status == 1);
  CHECK(as("raw:float32:big").status == 1);
  CHECK(as("raw:float64").status == 11);
  for (const char* wrong : {"raw", "raw:float33", "raw:float32:middle", "npi"}) {
    const Answer answer = as(wrong);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("unknown format"));
  }
  CHECK_THAT(as("h5").errors, Contains("hdf5") && Contains("raw:float32, raw:int16:big ..."));
  CHECK(sabath({"compare", a.string(), b.string(), "--by", "host"}).status == 2);
  CHECK(sabath({"compare", "one-run", "no-such-run", "--as", "npy"}).status == 2);
  const Answer missing = sabath({"compare", a.string(), "no-such-file"});
  CHECK(missing.status == 10);
  CHECK_THAT(missing.errors, Contains("'no-such-file': no such file"));
}

TEST_CASE("compare: an output of a reused stage has the digests of its values, too") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "cached",
      "awk 'BEGIN {{ print \"x,y\"; for (i = 0; i < 120000; ++i) "
      "printf \"%d,%.6f\\n\", i, (i == 77777 ? {param.it} : i) / 8 }}' > {output}/x.csv",
      R"({"parameters": {"it": {"type": "float", "default": 1, "affects": "execution"}},
          "compare": {"x.csv": {"as": "csv", "tolerance": {"relative": 1e-3}}}})",
      R"({"cache": true, "outputs": ["x.csv"]})");
  for (const char* it : {"1", "1", "2"})
    run(sabath, recipe, it);
  const auto runs = sabath.run_directories();
  const auto record_of = [](const fs::path& directory) {
    return json::parse(std::ifstream(directory / "record.json"));
  };
  REQUIRE(record_of(runs[1])["stages"][0]["state"] == "reused");
  CHECK(record_of(runs[1])["outputs"][0]["trees"] == record_of(runs[0])["outputs"][0]["trees"]);
  REQUIRE(fs::exists(runs[1] / "trees/go/x.csv.json"));
  for (const fs::path& directory : runs)
    fs::remove(directory / "outputs/go/x.csv");
  const Answer answer =
      sabath({"compare", runs[1].filename().string(), runs[2].filename().string()});
  CHECK(answer.status == 3);
  CHECK_THAT(answer.output,
             Contains("1 of 15 chunks differ, the first of them [73728] to [81919]"));
}

TEST_CASE("compare: outputs that were removed are compared by what is left of them") {
  const Sabath sabath;
  const std::string recipe = big_output(sabath);
  for (const char* it : {"1", "1.0001", "2"})
    run(sabath, recipe, it);
  const auto runs = sabath.run_directories();
  for (const fs::path& directory : runs) {
    REQUIRE(fs::exists(directory / "trees/go/x.csv.json"));
    fs::remove(directory / "outputs/go/x.csv");
  }
  const std::string first = runs[0].filename().string();
  const Answer near = sabath({"compare", first, runs[1].filename().string()});
  INFO(near.output + near.errors);
  CHECK(near.status == 0);
  CHECK_THAT(near.output, Contains("1 of 15 chunks differ, the first of them [73728] to [81919]"));
  CHECK_THAT(near.output, Contains("the tolerance holds"));
  const Answer far = sabath({"compare", first, runs[2].filename().string()});
  CHECK(far.status == 3);
  CHECK_THAT(far.output, Contains("only digests are left"));
  CHECK(sabath({"compare", first, runs[2].filename().string(), "--require", "bitwise"}).status ==
        1);
  std::ofstream(runs[2] / "trees/go/x.csv.json", std::ios::app) << " ";
  const Answer changed = sabath({"compare", first, runs[2].filename().string()});
  CHECK(changed.status == 11);
  CHECK_THAT(changed.errors, Contains("was changed after the run"));
}

TEST_CASE("check: what cannot be evaluated is no FAIL because another result fails") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "mixed",
      "awk 'BEGIN {{ print \"x,y\"; for (i = 0; i < 120000; ++i) "
      "printf \"%d,%.6f\\n\", i, (i == 77777 ? {param.it} : i) / 8 }}' > {output}/x.csv; "
      "echo '{{\"step\": 1, \"loss\": {param.it}}}' >> $SABATH_METRICS",
      R"({"parameters": {"it": {"type": "float", "default": 1, "affects": "execution"}},
          "metrics": {"loss": {"unit": "1"}},
          "compare": {"x.csv": {"as": "csv", "tolerance": {"relative": 1e-3}}}})",
      R"({"outputs": ["x.csv"]})");
  for (const char* it : {"it=1", "it=2"})
    REQUIRE(sabath({"run", recipe, "--seed", "1", "--set", it}).status == 0);
  for (const fs::path& directory : sabath.run_directories())
    fs::remove(directory / "outputs/go/x.csv");
  const Answer answer = sabath({"check", "recipe=mixed", "--json"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 1);
  const json report = json::parse(answer.output);
  std::map<std::string, json> cases;
  for (const json& one : report["groups"][0]["cases"])
    cases[one["name"]] = one;
  CHECK(cases.at("go/loss")["verdict"] == "FAIL");
  CHECK(cases.at("go/x.csv:/y")["verdict"] == "INCONCLUSIVE");
  CHECK_THAT(cases.at("go/x.csv:/y")["reason"].get<std::string>(),
             Contains("only digests are left"));
}
