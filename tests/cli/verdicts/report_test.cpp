// `sabath report`: what it writes of runs that went well, went wrong, and were brought in.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string hostile_recipe = R"({
  "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5}},
  "parameters": {"threads": {"type": "int", "default": 1, "affects": "execution"},
                 "note": {"type": "string", "default": "plain", "affects": "execution"}}})";

/// Two thousand points of a loss, a validation now and then, and a name that means harm.
std::string courses_recipe(const Sabath& sabath) {
  return sabath.shell_recipe(
      "courses",
      "awk -v s={seed} 'BEGIN {{ for (i = 1; i <= 2000; i++) {{ "
      "printf \"{{\\\"step\\\": %d, \\\"epoch\\\": %d, \\\"loss\\\": %.17g}}\\n\", i, i / 200, s + "
      "1 / i; "
      "if (i % 500 == 0) printf \"{{\\\"step\\\": %d, \\\"val\\\": %.17g, "
      "\\\"<script>alert(1)</script>&\\\": NaN}}\\n\", i, s + 2 / i }} }}' >> $SABATH_METRICS",
      hostile_recipe);
}

std::string runs_of(const Sabath& sabath, const std::vector<std::string>& further) {
  std::vector<std::string> words{"run", courses_recipe(sabath)};
  words.insert(words.end(), further.begin(), further.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return answer.output;
}

std::string reported(const Sabath& sabath,
                     const std::string& selection,
                     const std::string& name,
                     const std::vector<std::string>& further = {}) {
  const fs::path file = sabath.folder() / name;
  std::vector<std::string> words{"report", selection, "-o", file.string()};
  words.insert(words.end(), further.begin(), further.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return text_of(file);
}

/// By a parser of XML, which forgives nothing: every element closed, every attribute quoted, no id
/// twice, and nothing that is loaded or run.
void check_page(const Sabath& sabath, const std::string& name) {
  const std::string script = R"(
import sys, xml.etree.ElementTree as tree
seen = set()
for element in tree.parse(sys.argv[1]).getroot().iter():
    assert element.tag in set('html head meta title style body a header h1 h2 h3 p strong span dl dt dd nav ul li main section div table caption thead tbody tr th td figure figcaption pre code footer svg desc g path line text rect circle'.split()), element.tag
    for key, value in element.attrib.items():
        assert key != 'style' and key != 'src' and not key.startswith('on'), key
        assert key != 'href' or value.startswith('#'), value
        if key == 'id':
            assert value not in seen, value
            seen.add(value)
assert 'content' in seen
)";
  const Answer answer =
      sabath.program({"/usr/bin/env", "python3", "-c", script, (sabath.folder() / name).string()});
  INFO(answer.errors);
  CHECK(answer.status == 0);
}

}  // namespace

TEST_CASE("cli: a report of a study is one page that loads nothing and runs nothing") {
  const Sabath sabath;
  runs_of(sabath, {"--seeds", "1..3", "--set", "note=<b>&\"'"});
  CHECK(sabath({"run", sabath.shell_recipe("courses", "exit 3")}).status == 1);
  const std::string page = reported(sabath, "recipe=courses", "a.html");
  check_page(sabath, "a.html");
  CHECK(page.size() < 300'000);
  CHECK_THAT(page, Contains("NOT IDENTICAL") && Contains("go/loss (3 values)"));
  CHECK_THAT(page, Contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  CHECK_THAT(page, !Contains("<script"));
  CHECK_THAT(page, Contains("no point is finite"));
  CHECK_THAT(page, Contains("Stages of courses") && Contains("sabath run"));
  // The same bytes for the same runs, but for the time of writing.
  const std::string text = reported(sabath, "recipe=courses", "a.md");
  CHECK_THAT(text, Contains("**NOT IDENTICAL**") && Contains("| go/loss | 3 |"));
}

TEST_CASE("cli: reports for programs have every run and every bit") {
  const Sabath sabath;
  runs_of(sabath, {"--seeds", "1..3"});
  const json document = json::parse(reported(sabath, "recipe=courses", "a.json"));
  REQUIRE(document["runs"].size() == 3);
  CHECK(document["runs"][2]["values"]["go/loss"].get<double>() == 3 + 1.0 / 2000);
  CHECK(document["runs"][0]["values"]["go/<script>alert(1)</script>&"] == "NaN");
  const json& curve = document["courses"][0]["curves"][0];
  CHECK(curve["runs"] == 3);
  CHECK(curve["spread"][0]["highest"].get<double>() == 4);  // 3 + 1/1: no extreme is lost
  const std::string table = reported(sabath, "recipe=courses", "a.csv");
  CHECK(std::count(table.begin(), table.end(), '\n') == 4);
  CHECK_THAT(table, Contains("go/loss") && Contains("parameter threads") && Contains(",3.0005,"));
  const json answer = json::parse(
      sabath({"report", "@last", "-o", (sabath.folder() / "b.csv").string(), "--json"}).output);
  CHECK(answer["runs"] == 1);
  CHECK(answer["format"] == "csv");
  CHECK(answer["size_bytes"] == text_of(sabath.folder() / "b.csv").size());
}

TEST_CASE("cli: a report of two runs has their comparison, one by groups their verdict") {
  const Sabath sabath;
  runs_of(sabath, {"--seed", "7"});
  runs_of(sabath, {"--seed", "7", "--set", "threads=2"});
  const json pair = json::parse(reported(sabath, "recipe=courses", "a.json"));
  CHECK(pair["verdict"] == "PASS");
  CHECK(pair["pair"]["strongest"] == "bitwise");
  const std::string page = reported(sabath, "recipe=courses", "a.html");
  check_page(sabath, "a.html");
  CHECK_THAT(page, Contains("The two runs") && Contains("Performance: medians"));
  const json groups =
      json::parse(reported(sabath, "recipe=courses", "b.json", {"--by", "threads"}));
  CHECK(groups["groups"]["groups"].size() == 2);
  CHECK(groups["runs"][1]["levels"][0] == "2");
  CHECK_FALSE(groups.contains("pair"));
  reported(sabath, "recipe=courses", "b.html", {"--by", "threads"});
  check_page(sabath, "b.html");
}

TEST_CASE("cli: a report of a published table has its classes and what explains them") {
  const Sabath sabath;
  REQUIRE(sabath({"import",
                  std::string(SABATH_TEST_DATA) + "/compare/osg-2022-imbalanced-mnist.csv",
                  "--recipe",
                  "imbalanced-mnist",
                  "--facets",
                  "site,host",
                  "--metrics",
                  "imbalanced_classification,mnist_convnet"})
              .status == 0);
  const std::string page = reported(sabath, "recipe=imbalanced-mnist", "a.html", {"--by", "host"});
  check_page(sabath, "a.html");
  CHECK_THAT(page, Contains("FAIL") && Contains("host 100 %"));
  CHECK_THAT(page, Contains("3 different values, equal letters are equal to the bit"));
  CHECK_THAT(page, Contains("qa-rtx6k-034.crc.nd.edu") && Contains("n = 7, all 0.996612"));
}

TEST_CASE("cli: runs that broke off, that say nothing, or nothing finite, are reported") {
  const Sabath sabath;
  const std::string silent = sabath.shell_recipe("silent", "true");
  REQUIRE(sabath({"run", silent}).status == 0);
  CHECK_THAT(reported(sabath, "@last", "a.html"), Contains("<strong>OK</strong>"));
  check_page(sabath, "a.html");
  const std::string nothing = sabath.shell_recipe(
      "nothing",
      R"(printf '{{"step": 1, "x": NaN}}\n{{"step": 2, "x": Infinity}}\n{{"y": 1e308}}\n' >> $SABATH_METRICS; exit 4)");
  CHECK(sabath({"run", nothing}).status == 1);
  const std::string page = reported(sabath, "@last", "b.html");
  CHECK_THAT(page, Contains("<strong>FAILED</strong>"));
  check_page(sabath, "b.html");
  // A series that was cut short is told, and the rest is reported.
  REQUIRE(sabath({"run", courses_recipe(sabath), "--seed", "1"}).status == 0);
  fs::resize_file(sabath.run_directories().back() / "series.h5", 600);
  CHECK_THAT(reported(sabath, "@last", "c.html"),
             Contains("<dt>Note</dt>") && Contains("series.h5"));
  check_page(sabath, "c.html");
  // Nor do equal last values make two runs equal then.
  REQUIRE(sabath({"run", courses_recipe(sabath), "--seed", "1"}).status == 0);
  const json pair = json::parse(reported(sabath, "recipe=courses", "d.json"));
  CHECK(pair["verdict"] == "NOT-COMPARABLE");
  CHECK_THAT(pair["reason"].get<std::string>(), Contains("series.h5"));
}

TEST_CASE("cli: what cannot be reported is said before anything is written") {
  const Sabath sabath;
  runs_of(sabath, {"--seed", "1"});
  const std::string folder = sabath.folder().string();
  const Answer format = sabath({"report", "@last", "-o", folder + "/a.pdf"});
  CHECK(format.status == 2);
  CHECK_THAT(format.errors, Contains("the format is not known") && Contains(".html, .md, .csv"));
  CHECK(sabath({"report", "@last"}).status == 2);
  CHECK(sabath({"report", "recipe=none", "-o", folder + "/a.html"}).status == 2);
  CHECK_THAT(sabath({"report", "@last", "-o", folder + "/no/a.html"}).errors,
             Contains("this folder does not exist"));
  fs::create_directory(sabath.folder() / "d.html");
  CHECK_THAT(sabath({"report", "@last", "-o", folder + "/d.html"}).errors, Contains("is a folder"));
  const Answer key =
      sabath({"report", "recipe=courses", "--by", "thread", "-o", folder + "/a.html"});
  CHECK(key.status == 2);
  CHECK_THAT(key.errors, Contains("did you mean 'threads'?"));
  CHECK_FALSE(fs::exists(sabath.folder() / "a.html"));
}
