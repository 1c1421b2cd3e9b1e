// Parameters in the file format of a benchmark: what CANDLE, PyYAML and JSON write and read.
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/planning/parameter_file.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using planning::read_parameter_file;
using planning::write_parameter_file;
using test::contains;
using test::error_of;
using Set = std::map<std::string, std::string>;

namespace {

constexpr const char* ini = R"(# Uno, AUC
[Global_Params]
dense = [1000, 1000, 1000]
learning_rate=0.001
optimizer = 'adam'
; a comment of another kind
loss=mse
dropout: 0.1
residual = True
cell_features = ('rnaseq', "it's")
[Monitor_Params]
timeout = -1
)";

constexpr const char* yaml = R"(# cosmo
model:
  dense: [1000, 1000, 1000]
  name: cosmoflow
optimizer: {rate: 0.001, name: "1e3"}
flags: &flags [true, false]
other: *flags
empty:
)";

constexpr const char* json = R"({"model": {"dense": [1000, 1000, 1000]}, "rate": 0.001, "a/b": 1})";

/// A recipe with the parameters widths and rate, whose file has `text`.
class Benchmark {
 public:
  Benchmark(const std::string& format, std::string_view text, const std::string& keys) {
    base::write_file_atomically(home / "usual.txt", text);
    recipe = spec::parse_recipe(
        R"({"schema": 1, "name": "uno",
            "parameters": {"widths": {"type": "list", "of": "int", "default": [1000]},
                           "rate": {"type": "float", "default": 0.001}},
            "parameter_file": {"file": "usual.txt", "format": ")" +
            format + R"(", "keys": )" + keys +
            R"(}, "stages": [{"name": "go", "run": ["cat", "{parameters}"]}]})",
        "recipe.json");
    recipe.directory = std::filesystem::path(home / "usual.txt").parent_path();
  }

  Set read(std::string_view text) const { return read_parameter_file(recipe, text, "mine.txt"); }
  std::string refusal(std::string_view text) const {
    const base::Error error = error_of([&] { read(text); });
    CHECK(error.kind() == base::ErrorKind::usage);
    return std::string(error.what()) + " | " + error.hint();
  }
  std::string written(std::vector<std::int64_t> widths, double rate) const {
    spec::ParameterList list;
    list.items.assign(widths.begin(), widths.end());
    return write_parameter_file(recipe, {{"widths", list}, {"rate", rate}});
  }

  const test::TempHome home{};
  spec::Recipe recipe{};
};

Benchmark uno() {
  return {
      "ini", ini, R"({"widths": "Global_Params/dense", "rate": "Global_Params/learning_rate"})"};
}

}  // namespace

TEST_CASE("parameter file: an INI file gives the parameters that it has") {
  const Benchmark benchmark = uno();
  CHECK(benchmark.read("[Global_Params]\ndense=[500, 500]\nlearning_rate = 1e-4\n") ==
        Set{{"widths", "500,500"}, {"rate", "0.0001"}});
  CHECK(benchmark.read("[Global_Params]\r\ndense = (1_000,)\r\nlearning_rate = .5\r\n") ==
        Set{{"widths", "1000"}, {"rate", "0.5"}});
  CHECK(benchmark.read(ini) == Set{{"widths", "1000,1000,1000"}, {"rate", "0.001"}});
  CHECK(benchmark.read("").empty());
}

TEST_CASE("parameter file: what an INI file must not say is named") {
  const Benchmark benchmark = uno();
  CHECK(contains(benchmark.refusal("[Global_Params]\ndens = 1\n"),
                 "mine.txt: 'Global_Params/dens' is unknown: usual.txt of recipe 'uno' lacks it | "
                 "did you mean 'Global_Params/dense'?"));
  CHECK(contains(benchmark.refusal("[Global_Params]\noptimizer = 'sgd'\n"),
                 "'Global_Params/optimizer' is \"sgd\", and the recipe keeps it \"adam\""));
  CHECK(contains(benchmark.refusal("[Global_Params]\nnonsense\n"),
                 "mine.txt:2: 'nonsense' is not key = value"));
  CHECK(contains(benchmark.refusal("[Global_Params]\nloss=mse\nloss=mse\n"),
                 "mine.txt:3: 'loss' stands twice"));
}

TEST_CASE("parameter file: an INI file is written with its comments and other lines") {
  const Benchmark benchmark = uno();
  CHECK(benchmark.written({1000, 1000, 1000}, 0.001) == ini);
  std::string other = ini;
  other.replace(other.find("[1000, 1000, 1000]"), 18, "[64, 32]");
  other.replace(other.find("0.001"), 5, "1e-05");
  CHECK(benchmark.written({64, 32}, 1e-5) == other);
  CHECK(benchmark.read(other) == Set{{"widths", "64,32"}, {"rate", "1e-05"}});
}

TEST_CASE("parameter file: YAML is read and written with its types") {
  const Benchmark benchmark{"yaml", yaml, R"({"widths": "model/dense", "rate": "optimizer/rate"})"};
  CHECK(benchmark.read("model:\n  dense:\n  - 5\n  - 6\noptimizer:\n  rate: 1.0e-05\n") ==
        Set{{"widths", "5,6"}, {"rate", "1e-05"}});
  const std::string text = benchmark.written({64}, 1e-5);
  CHECK(contains(text, "dense: [64]"));
  CHECK(contains(text, "rate: 1.0e-05"));  // as a number for PyYAML, too
  CHECK(contains(text, "name: \"1e3\""));
  CHECK(contains(text, "other: [true, false]"));
  CHECK(benchmark.read(text) == Set{{"widths", "64"}, {"rate", "1e-05"}});
  CHECK(contains(benchmark.refusal("optimizer: {name: 1e3}\n"), "'optimizer/name' is 1000.0"));
  CHECK(contains(benchmark.refusal("model: [1\n"), "mine.txt:"));
  CHECK(contains(benchmark.refusal("- 1\n"), "mine.txt: has no keys at its top"));
  CHECK(contains(benchmark.refusal("? [1]\n: 2\n"), "has a key that is not a text"));
}

TEST_CASE("parameter file: YAML that grows without end ends as an error") {
  const Benchmark benchmark{"yaml", yaml, R"({"widths": "model/dense", "rate": "optimizer/rate"})"};
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    std::string items = before;
    for (int k = 1; k < 10; ++k)
      items += ", " + before;
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + items + "]\n";
  }
  CHECK(contains(benchmark.refusal(bomb), "too many values"));
  CHECK(contains(benchmark.refusal("a: " + std::string(500, '[') + std::string(500, ']')),
                 "mine.txt"));
}

TEST_CASE("parameter file: JSON is read and written") {
  const Benchmark benchmark{"json", json, R"({"widths": "model/dense", "rate": "rate"})"};
  CHECK(benchmark.read(R"({"rate": 2})") == Set{{"rate", "2"}});
  CHECK(benchmark.read(benchmark.written({1, 2}, 0.5)) == Set{{"widths", "1,2"}, {"rate", "0.5"}});
  CHECK(contains(benchmark.refusal("{"), "mine.txt: is not JSON, at byte"));
}

TEST_CASE("parameter file: a recipe whose file lacks a key, or is not there, says so") {
  const Benchmark benchmark{
      "ini", ini, R"({"widths": "Global_Params/dens", "rate": "Global_Params/learning_rate"})"};
  const base::Error error = error_of([&] { benchmark.written({1}, 1); });
  CHECK(contains(error.what(), "usual.txt: has no 'Global_Params/dens'"));
  CHECK(contains(error.hint(), "did you mean 'Global_Params/dense'?"));
  spec::Recipe other = benchmark.recipe;
  other.parameter_file->file = "gone.txt";
  CHECK(error_of([&] { read_parameter_file(other, "", "x"); }).kind() ==
        base::ErrorKind::not_found);
  other.parameter_file.reset();
  CHECK(contains(error_of([&] { read_parameter_file(other, "", "x"); }).what(),
                 "recipe 'uno' has no parameter file"));
}
