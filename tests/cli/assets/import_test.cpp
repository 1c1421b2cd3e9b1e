// Tables that somebody published, as runs that are marked as such.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string published =
    std::string(SABATH_TEST_DATA) + "/compare/osg-2022-imbalanced-mnist.csv";

Answer import_published(const Sabath& sabath) {
  return sabath({"import",
                 published,
                 "--recipe",
                 "imbalanced-mnist",
                 "--facets",
                 "site,host",
                 "--metrics",
                 "imbalanced_classification,mnist_convnet"});
}

Answer import_text(const Sabath& sabath,
                   const std::string& text,
                   const std::vector<std::string>& further = {}) {
  const fs::path file = sabath.folder() / "table.csv";
  write_text(file, text);
  std::vector<std::string> words{
      "import", file.string(), "--recipe", "t", "--facets", "host", "--metrics", "acc"};
  words.insert(words.end(), further.begin(), further.end());
  return sabath(words);
}

json answered(const Answer& answer) {
  INFO(answer.errors);
  return json::parse(answer.output);
}

}  // namespace

TEST_CASE("cli: a column that is called as a fact of hosts is that fact") {
  const Sabath sabath;
  const fs::path file = sabath.folder() / "table.csv";
  write_text(file, "host,gpu,kernel,acc\na,H200,6.1,1\nb,H200,6.1,1\nc,A100,6.2,2\n");
  REQUIRE(sabath({"import",
                  file.string(),
                  "--recipe",
                  "t",
                  "--facets",
                  "host,gpu,kernel",
                  "--metrics",
                  "acc"})
              .status == 0);
  const std::string by = GENERATE("gpu", "kernel");
  const json groups = answered(sabath({"compare", "recipe=t", "--by", by, "--json"}));
  REQUIRE(groups["groups"].size() == 2);
  CHECK(groups["metrics"][0]["split"]["factors"][0]["eta_squared"] == 1);
}

TEST_CASE("cli: the published table has three classes of result, which the host explains") {
  const Sabath sabath;
  const Answer imported = import_published(sabath);
  INFO(imported.output + imported.errors);
  REQUIRE(imported.status == 0);
  CHECK_THAT(imported.output, Contains("25 runs of imbalanced-mnist imported"));
  const std::string by = GENERATE("site", "host");
  const Answer text = sabath({"compare", "recipe=imbalanced-mnist", "--by", by});
  CHECK(text.status == 1);
  CHECK_THAT(text.output, Contains("25 runs, 25 of them imported"));
  CHECK_THAT(text.output, Contains("heat map"));
  CHECK_THAT(text.output, Contains("within groups: yes, to the bit; across: no; 3 distinct"));
  CHECK_THAT(text.output, Contains(by + " explains 100 %"));
  const json answer =
      answered(sabath({"compare", "recipe=imbalanced-mnist", "--by", by, "--json"}));
  CHECK(answer["classes"] == 3);
  CHECK(answer["result"] == "FAIL");
  REQUIRE(answer["metrics"].size() == 2);
  for (const json& metric : answer["metrics"]) {
    CHECK(metric["identical_within"] == true);
    CHECK(metric["identical_across"] == false);
    CHECK(metric["distinct"] == 3);
    CHECK(metric["split"]["within"] == 0.0);
    CHECK(metric["split"]["icc"] == 1.0);
    CHECK(metric["split"]["factors"][0]["eta_squared"] == 1.0);
    CHECK(metric["verdict"] == "FAIL");
  }
  // Runs are in the order of the table's rows.
  if (by == "host") {
    const json& rows = answer["metrics"][0]["rows"];
    CHECK(answer["groups"].size() == rows.size());
    CHECK(rows.size() == 8);
  }
}

TEST_CASE("cli: the heat map of the published table by site") {
  const Sabath sabath;
  REQUIRE(import_published(sabath).status == 0);
  const std::string text = sabath({"compare", "recipe=imbalanced-mnist", "--by", "site"}).output;
  INFO(text);
  CHECK_THAT(text, Contains("GPN-GP-ARGO-Backfill  AAA\n"));
  CHECK_THAT(text, Contains("ND-CAML_gpu           CCCCCCCCCCC\n"));
  CHECK_THAT(text, Contains("OSG_US_SIUE_CC        AA\n"));
  CHECK_THAT(text, Contains("WSU-GRID              BBBBBBBBB\n"));
  CHECK_THAT(text, Contains("also varies: host (8)"));
}

TEST_CASE("cli: of site and host the one that comes first explains all, the other no more") {
  const Sabath sabath;
  REQUIRE(import_published(sabath).status == 0);
  const json answer =
      answered(sabath({"compare", "recipe=imbalanced-mnist", "--by", "site,host", "--json"}));
  const json& factors = answer["metrics"][0]["split"]["factors"];
  CHECK(factors[0]["eta_squared"] == Approx(1));
  CHECK(factors[1]["sequential_freedom"] == 4);
  CHECK(factors[1]["sequential"].get<double>() == Approx(0).margin(1e-15));
}

TEST_CASE("cli: the same table a second time finds its runs, and completes them") {
  const Sabath sabath;
  REQUIRE(import_published(sabath).status == 0);
  const Answer again = import_published(sabath);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("0 runs of imbalanced-mnist imported, 25 were there"));
  CHECK(sabath.count_runs() == 25);
  fs::remove_all(sabath.run_directories()[7]);
  REQUIRE(sabath({"catalog", "reindex"}).status == 0);
  CHECK_THAT(import_published(sabath).output, Contains("1 run of imbalanced-mnist imported, 24"));
  CHECK(sabath.count_runs() == 25);
}

TEST_CASE("cli: imported runs are never taken for runs of our own") {
  Sabath sabath;
  REQUIRE(import_text(sabath, "host,acc\nn1,0.5\nn2,0.25\n", {"--tag", "paper"}).status == 0);
  CHECK(sabath({"show", "@last"}).status == 10);
  const Answer listed = sabath({"list", "runs", "tag=paper"});
  CHECK_THAT(listed.output, Contains("imported") && Contains("n1") && Contains("n2"));
  const std::string id = sabath.run_directories().front().filename().string();
  const Answer shown = sabath({"show", id});
  INFO(shown.errors);
  CHECK(shown.status == 0);
  CHECK_THAT(shown.output, Contains("imported"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"repro", id},
        {"collect", id},
        {"compare", "tag=paper,host=n1", "tag=paper,host=n2"}}) {
    const Answer refused = sabath(words);
    CHECK(refused.status == 2);
    CHECK_THAT(refused.errors, Contains("was imported from a table"));
  }
  // Nor are they of the definition of a recipe that is called the same.
  REQUIRE(sabath({"run", sabath.shell_recipe("t", "true")}).status == 0);
  const Answer mixed = sabath({"compare", "recipe=t", "--by", "host"});
  CHECK(mixed.status == 4);
  CHECK_THAT(mixed.output, Contains("2 definitions"));
}

TEST_CASE("cli: what is wrong with a table is told before anything is written") {
  const Sabath sabath;
  const Answer comma = import_text(sabath, "host;acc\nn1;0,5\n");
  CHECK(comma.status == 2);
  CHECK_THAT(comma.errors, Contains("'0,5', which is not a number") && Contains("with a point"));
  CHECK_THAT(import_text(sabath, "hosts,acc\nn1,1\n").errors, Contains("did you mean 'hosts'?"));
  CHECK(import_text(sabath, "host,acc\n").status == 2);
  CHECK(sabath({"import", "nowhere.csv", "--recipe", "t", "--metrics", "acc"}).status == 10);
  CHECK(sabath({"import", published, "--recipe", "../t", "--metrics", "acc"}).status == 2);
  CHECK(sabath({"import", published, "--recipe", "t", "--metrics", "site,site"}).status == 2);
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: missing cells and NaN of a table are neither values nor a PASS") {
  const Sabath small;
  CHECK_THAT(import_text(small, "host,acc\nn1,1\nn2,\n", {}).output,
             Contains("2 runs of t imported; 1 value missing"));
  const Sabath sabath;
  REQUIRE(
      import_text(sabath, "host,acc\nn1,1\nn2,1\nn2,1\nn2,\nn1,1\nn1,nan\n", {"--json"}).status ==
      0);
  const Answer answer = sabath({"compare", "recipe=t", "--by", "host", "--json"});
  CHECK(answer.status == 3);
  const json metric = answered(answer)["metrics"][0];
  CHECK(metric["rows"][1]["missing"] == 1);
  CHECK(metric["rows"][0]["values"][2] == "NaN");
  CHECK_THAT(metric["reason"].get<std::string>(), Contains("2 of 6 runs have no finite value"));
}

TEST_CASE("cli: the zeros of a table keep their signs, to the bit") {
  const Sabath sabath;
  REQUIRE(import_text(sabath, "host,acc\nn1,-0.0\nn1,-0.0\nn2,0.0\nn2,0.0\n").status == 0);
  CHECK(sabath({"compare", "recipe=t", "--by", "host", "--require", "bitwise"}).status == 1);
  CHECK(sabath({"compare", "recipe=t", "--by", "host", "--require", "tolerance"}).status == 0);
}

TEST_CASE("cli: repeats of a seed are one sample however a table writes the seed") {
  const Sabath sabath;
  const std::string form = GENERATE("", ".0");
  std::string table = "host,seed,acc\n";
  for (int i = 0; i < 6; ++i) {
    table += "n1,1" + form + ",1.0" + std::to_string(i) + "\n";
    table += "n2,2" + form + ",1.5" + std::to_string(i) + "\n";
  }
  const fs::path file = sabath.folder() / "table.csv";
  write_text(file, table);
  REQUIRE(
      sabath(
          {"import", file.string(), "--recipe", "t", "--facets", "host,seed", "--metrics", "acc"})
          .status == 0);
  const Answer judged = sabath({"compare", "recipe=t", "--by", "host", "--margin", "0.1"});
  INFO(judged.output);
  CHECK(judged.status == 3);
}

TEST_CASE("cli: a noisy table passes or fails by a margin that is asked for") {
  const Sabath sabath;
  std::string table = "host,acc\n";
  for (const char* value : {"0.50", "0.51", "0.52", "0.49", "0.50", "0.51"}) {
    table += "n1," + std::string(value) + "\n";
    table += "n2," + std::string(value) + "5\n";
  }
  REQUIRE(import_text(sabath, table).status == 0);
  CHECK(sabath({"compare", "recipe=t", "--by", "host"}).status == 3);
  CHECK(sabath({"compare", "recipe=t", "--by", "host", "--margin", "acc=0.05"}).status == 0);
  const Answer sides =
      sabath({"compare", "recipe=t,host=n1", "recipe=t,host=n2", "--margin", "0.05"});
  CHECK(sides.status == 0);
  CHECK_THAT(sides.output, Contains("the margin is that of --margin"));
  REQUIRE(import_text(sabath, "host,acc\nn3,0.71\nn3,0.72\nn3,0.70\n").status == 0);
  CHECK(sabath({"compare", "recipe=t", "--by", "host", "--margin", "acc=0.05"}).status == 1);
}

TEST_CASE("cli: check says of an imported run that it came from a table, after what it is") {
  const Sabath sabath;
  REQUIRE(import_text(sabath, "host,acc\nn1,0.5\n").status == 0);
  CHECK_THAT(sabath({"--json", "check", "recipe=t"}).output,
             Contains("the run is 'imported': row 1 of a table; it came from a table, which"));
}

TEST_CASE("cli: cells that the page of import does not name are refused with their place") {
  const Sabath sabath;
  const Answer answer =
      import_text(sabath, "host,acc\na,1e-400\nb,0x10\nc,1d5\nd,infinity\ne,inf\n");
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains(":2: acc is '1e-400', which is too small"));
  CHECK_THAT(answer.errors,
             Contains(":3: acc is '0x10', which is not a number") && Contains(":4:") &&
                 Contains(":5:") && !Contains(":6:"));
}

TEST_CASE("cli: a published value that is no share of its count is a likely misprint") {
  const Sabath sabath;
  const Answer answer = import_text(
      sabath, "host,acc\na,0.9919\nb,0.99195\nc,1.2\nd,0.992\ne,\n", {"--count", "acc=10000"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors,
             Contains(":3: acc is '0.99195', which is not k/10000: likely a misprint"));
  CHECK_THAT(answer.errors, Contains("9919/10000 = 0.9919 and 9920/10000 = 0.992"));
  CHECK_THAT(answer.errors, Contains(":4: acc is '1.2', which is not a share of 10000"));
  CHECK_THAT(answer.output,
             Contains("5 runs of t imported") && Contains("2 values cannot be right"));
  const Answer real = sabath({"import",
                              published,
                              "--recipe",
                              "imbalanced-mnist",
                              "--metrics",
                              "imbalanced_classification,mnist_convnet",
                              "--count",
                              "imbalanced_classification=56961,mnist_convnet=10000"});
  CHECK(real.status == 0);
  CHECK_THAT(real.output, !Contains("cannot be right"));
  for (const char* wrong : {"acc", "acc=", "=5", "acc=0", "acc=-1", "acc=ten"}) {
    CAPTURE(wrong);
    CHECK(import_text(sabath, "host,acc\na,1\n", {"--count", wrong}).status == 2);
  }
  const Answer other = import_text(sabath, "host,acc\na,1\n", {"--count", "ac=5"});
  CHECK(other.status == 2);
  CHECK_THAT(other.errors, Contains("did you mean 'acc'?"));
}
