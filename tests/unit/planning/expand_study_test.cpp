#include "support/errors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/planning/expand_study.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;
using Texts = std::vector<std::string>;

namespace {

using Points = std::vector<spec::StudyPoint>;

spec::Recipe recipe() {
  return spec::parse_recipe(R"({
    "schema": 1, "name": "toy",
    "parameters": {
      "n": {"type": "int", "default": 1, "min": 0, "max": 1000000},
      "mode": {"type": "enum", "values": ["a", "b", "c"], "default": "a"},
      "rate": {"type": "float", "default": 0.5},
      "pinned": {"type": "int", "default": 1}
    },
    "fixed": ["pinned"],
    "stages": [{"name": "go", "run": ["true"]}]
  })",
                            "toy.json");
}

std::vector<spec::ParameterValue> numbers(std::int64_t first, std::int64_t last) {
  std::vector<spec::ParameterValue> values;
  for (std::int64_t i = first; i <= last; ++i)
    values.emplace_back(i);
  return values;
}

std::vector<spec::ParameterValue> modes(const Texts& words) {
  return {words.begin(), words.end()};
}

Points expand(const spec::Study& study,
              const std::map<std::string, std::string>& set = {},
              std::optional<std::uint64_t> seed = {}) {
  return planning::expand_study(recipe(), study, set, seed);
}

Texts texts(const Points& points) {
  const auto varied = planning::varied_parameters(points);
  Texts all;
  for (const auto& point : points)
    all.push_back(planning::point_text(point, varied) + "/" + std::to_string(point.repetition));
  return all;
}

std::string refusal(const spec::Study& study, const std::map<std::string, std::string>& set = {}) {
  return test::error_of([&] { expand(study, set); }).what();
}

}  // namespace

TEST_CASE("study: without anything it is one run that draws its seed") {
  const Points points = expand({});
  REQUIRE(points.size() == 1);
  CHECK(points[0].set.empty());
  CHECK_FALSE(points[0].seed);
}

TEST_CASE("study: a matrix is crossed, and every point has every seed and repetition") {
  spec::Study study;
  study.matrix = {{"n", numbers(1, 2)}, {"mode", modes({"a", "b"})}};
  study.seeds = {7, 5};
  study.repeat = 2;
  const Points points = expand(study, {{"rate", "0.25"}});
  REQUIRE(points.size() == 16);
  const Texts all = texts(points);
  CHECK(Texts(all.begin(), all.begin() + 6) == Texts{"mode=a n=1 seed=7/1",
                                                     "mode=a n=1 seed=7/2",
                                                     "mode=a n=1 seed=5/1",
                                                     "mode=a n=1 seed=5/2",
                                                     "mode=a n=2 seed=7/1",
                                                     "mode=a n=2 seed=7/2"});
  for (const auto& point : points)
    CHECK(point.set.at("rate") == "0.25");
}

TEST_CASE("study: paired lists go together and are crossed with the matrix") {
  spec::Study study;
  study.matrix = {{"rate", {0.5, 0.25}}};
  study.zip = {{"n", numbers(1, 3)}, {"mode", modes({"a", "b", "a"})}};
  CHECK(texts(expand(study)) == Texts{"mode=a n=1 rate=0.5/1",
                                      "mode=b n=2 rate=0.5/1",
                                      "mode=a n=3 rate=0.5/1",
                                      "mode=a n=1 rate=0.25/1",
                                      "mode=b n=2 rate=0.25/1",
                                      "mode=a n=3 rate=0.25/1"});
  study.zip["mode"].pop_back();
  CHECK_THAT(refusal(study), Contains("'mode' has 2 value(s) and 'n' has 3"));
}

TEST_CASE("study: what is excluded is left out, by all the names of an exclusion") {
  spec::Study study;
  study.matrix = {{"n", numbers(1, 3)}, {"mode", modes({"a", "b"})}};
  study.exclude = {{{"n", numbers(2, 3)}, {"mode", modes({"b"})}}, {{"n", numbers(2, 2)}}};
  CHECK(texts(expand(study)) == Texts{"mode=a n=1/1", "mode=a n=3/1", "mode=b n=1/1"});
  study.exclude.push_back({{"n", numbers(1, 1)}, {"mode", modes({"c"})}});
  CHECK_THAT(refusal(study), Contains("exclusion 3 of the study excludes nothing"));
  study.exclude = {{{"n", numbers(1, 3)}}};
  CHECK_THAT(refusal(study), Contains("excludes every point"));
}

TEST_CASE("study: the seed of the command is that of all runs, unless the study has its own") {
  spec::Study study;
  study.repeat = 2;
  CHECK(texts(expand(study, {}, 9)) == Texts{"seed=9/1", "seed=9/2"});
  study.seeds = {1};
  CHECK(texts(expand(study, {}, 9)) == Texts{"seed=1/1", "seed=1/2"});
}

TEST_CASE("study: two points the same, and a parameter with one value and several, are refused") {
  spec::Study study;
  study.zip = {{"n", {std::int64_t{1}, std::int64_t{2}, std::int64_t{1}}},
               {"mode", modes({"a", "a", "a"})}};
  CHECK_THAT(refusal(study), Contains("two points of the study are the same: mode=a, n=1"));
  study.zip.clear();
  study.matrix = {{"n", numbers(1, 2)}};
  CHECK_THAT(refusal(study, {{"n", "3"}}),
             Contains("parameter 'n': is set to one value and also to several"));
  study.matrix = {{"pinned", numbers(1, 2)}};
  CHECK_THAT(refusal(study), Contains("parameter 'pinned': is fixed by the recipe"));
  study.matrix = {{"n", {}}};
  CHECK_THAT(refusal(study), Contains("parameter 'n' of the study has no value"));
}

TEST_CASE("study: more runs than anybody wants are refused before they are made") {
  spec::Study study;
  study.matrix = {{"n", numbers(1, 1000)}};
  study.repeat = 100;
  CHECK(expand(study).size() == 100'000);
  study.repeat = 101;
  CHECK_THAT(refusal(study), Contains("the study would have 101000 runs") && Contains("100000"));
  study.repeat = 1'000'000'000;
  CHECK_THAT(refusal(study), Contains("at least 100000000 runs"));
}

TEST_CASE("study: only parameters that differ tell points apart") {
  spec::Study study;
  study.matrix = {{"n", numbers(4, 4)}, {"mode", modes({"a", "b"})}};
  CHECK(planning::varied_parameters(expand(study)) == Texts{"mode"});
}
