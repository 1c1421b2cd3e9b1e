// What the code tells of what decides its results, among its metrics.
#include "support/memory_sink.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/collect/collect.hpp>

#include <catch2/catch.hpp>

using namespace sabath;

namespace {

struct Told {
  test::TempHome home{};
  test::MemorySink sink{};

  collect::Extraction by(const std::string& text, int rank = 0) {
    base::write_file_atomically(home / ("metrics-" + std::to_string(rank) + ".jsonl"), text);
    return collect::extract_all({"train", home.path(), {}}, {}, sink);
  }
  std::string order(const std::string& text) {
    const auto extraction = by(text);
    CHECK(extraction.bad_lines == 0);
    REQUIRE(extraction.reported.orders.size() == 1);
    return extraction.reported.orders.front().digest;
  }
  std::string problem(const std::string& text) {
    const auto extraction = by(text);
    CHECK(extraction.bad_lines == 1);
    return extraction.examples.empty() ? "" : extraction.examples.front().problem;
  }
};

std::string digest(const std::string& lines) {
  return base::sha256_of(lines).text();
}

}  // namespace

TEST_CASE("reported: ids of samples are digested in their order, across lines") {
  Told told;
  const std::string expected = digest("3\n1\n2\n");
  CHECK(told.order("{\"sample_ids\": [3, 1, 2]}\n") == expected);
  CHECK(told.order("{\"sample_ids\": [3]}\n{\"loss\": 1}\n{\"sample_ids\": [1, 2]}\n") == expected);
  CHECK(told.order("{\"sample_ids\": [3, 2, 1]}\n") != expected);
  CHECK(told.order("{\"sample_ids\": [\"a.png\", -1, 18446744073709551615]}\n") ==
        digest("a.png\n-1\n18446744073709551615\n"));
}

TEST_CASE("reported: an epoch begins where a line names another one") {
  Told told;
  CHECK(told.order("{\"epoch\": 0, \"sample_ids\": [1]}\n{\"sample_ids\": [2], \"epoch\": 0}\n"
                   "{\"sample_ids\": [2, 1], \"epoch\": 1}\n") ==
        digest("epoch 0\n1\n2\nepoch 1\n2\n1\n"));
}

TEST_CASE("reported: a digest of the code's own is taken as it is, several are digested") {
  Told told;
  CHECK(told.order("{\"sample_order\": \"sha256:beef\"}\n") == "sha256:beef");
  CHECK(told.order("{\"sample_order\": \"x\", \"epoch\": 0}\n{\"sample_order\": \"y\"}\n") ==
        digest("epoch 0\norder x\norder y\n"));
}

TEST_CASE("reported: each rank has an order of its own") {
  Told told;
  told.by("{\"sample_ids\": [1]}\n", 0);
  const auto extraction = told.by("{\"sample_ids\": [2]}\n", 3);
  REQUIRE(extraction.reported.orders.size() == 2);
  CHECK(extraction.reported.orders[1].rank == 3);
  CHECK(extraction.reported.orders[1].digest == digest("2\n"));
}

TEST_CASE("reported: a seed that ranks do not have in common is told for each") {
  Told told;
  told.by("{\"seeds\": {\"torch\": 5, \"numpy\": 1}}\n", 0);
  const auto extraction = told.by("{\"seeds\": {\"torch\": 7, \"numpy\": 1}}\n", 2);
  CHECK(extraction.reported.seeds == std::map<std::string, std::string>{{"numpy", "1"},
                                                                        {"torch, rank 0", "5"},
                                                                        {"torch, rank 2", "7"}});
}

TEST_CASE("reported: a seed that is told at each step does not fill the record") {
  Told told;
  std::string lines;
  for (int step = 0; step < 1000; ++step)
    lines += "{\"seeds\": {\"step\": " + std::to_string(step) + "}}\n";
  const std::string seed = told.by(lines).reported.seeds.at("step");
  CHECK(seed.starts_with("0; 1; 2; "));
  CHECK(seed.ends_with("; ..."));
  CHECK(seed.size() < 256);
}

TEST_CASE("reported: seeds by what they seed, also one that is told twice") {
  Told told;
  const auto extraction = told.by(
      "{\"seeds\": {\"numpy\": 7, \"torch\": 18446744073709551615, \"own\": \"a-b\"}}\n"
      "{\"step\": 1, \"loss\": 2, \"seeds\": {\"numpy\": 8}}\n");
  CHECK(extraction.bad_lines == 0);
  CHECK(extraction.reported.seeds ==
        std::map<std::string, std::string>{
            {"numpy", "7; 8"}, {"own", "a-b"}, {"torch", "18446744073709551615"}});
  CHECK(extraction.points == 1);
  CHECK(told.sink.points.at("train/loss").size() == 1);
}

TEST_CASE("reported: metrics on the same line count, and a number of such a name is a metric") {
  Told told;
  const auto extraction = told.by(
      "{\"step\": 4, \"sample_ids\": [1], \"loss\": 0.5}\n{\"seeds\": 3, \"sample_ids\": 2}\n");
  CHECK(extraction.points == 3);
  CHECK(told.sink.points.at("train/loss").front().step == 4);
  CHECK(told.sink.points.at("train/seeds").front().value == 3);
}

TEST_CASE("reported: what is neither a whole number nor a text is refused") {
  Told told;
  CHECK(told.problem("{\"sample_ids\": [1.5]}\n") ==
        "'sample_ids' holds a number that is not whole");
  CHECK(told.problem("{\"sample_ids\": [[1]]}\n") == "'sample_ids' is an array, not a number");
  CHECK(told.problem("{\"sample_ids\": [\"a\\nb\"]}\n") ==
        "'sample_ids' holds an empty, overlong or unprintable text");
  CHECK(told.problem("{\"sample_ids\": {\"a\": 1}}\n") ==
        "'sample_ids' is an object, not a number");
  CHECK(told.problem("{\"seeds\": {\"a\": {\"b\": 1}}}\n") == "'seeds' is an object, not a number");
  CHECK(told.problem("{\"seeds\": [1]}\n") == "'seeds' is an array, not a number");
  CHECK(told.problem("{\"loss\": [1]}\n") == "'loss' is an array, not a number");
  CHECK(told.problem("{\"sample_order\": \"\"}\n") ==
        "'sample_order' is empty, overlong or unprintable");
  // What a refused line told does not count.
  const auto extraction = told.by("{\"sample_ids\": [1, null]}\n{\"sample_ids\": [2]}\n");
  REQUIRE(extraction.reported.orders.size() == 1);
  CHECK(extraction.reported.orders.front().digest == digest("2\n"));
}
