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
        Set{{"rate", "0.5"}});  // a usual value leaves the parameter to a sweep
  CHECK(benchmark.read(ini) == Set{{"widths", "1000,1000,1000"}});
  CHECK(benchmark.read("[Global_Params]\noptimizer = 'adam'  # as usual\n").empty());
  CHECK(benchmark.read("").empty());
}

TEST_CASE("parameter file: what an INI file must not say is named") {
  const Benchmark benchmark = uno();
  CHECK(contains(benchmark.refusal("[Global_Params]\ndens = 1\n"),
                 "mine.txt: 'Global_Params/dens' is unknown: usual.txt of recipe 'uno' lacks it | "
                 "did you mean 'Global_Params/dense'?"));
  CHECK_FALSE(contains(benchmark.refusal("[Global_Params]\nbatch = 1\n"), "did you mean"));
  CHECK(contains(benchmark.refusal("[Global_Params]\noptimizer = 'sgd'\n"),
                 "'Global_Params/optimizer' is \"sgd\", and the recipe keeps it \"adam\""));
  CHECK(contains(benchmark.refusal("[Global_Params]\nnonsense\n"),
                 "mine.txt:2: 'nonsense' is not key = value"));
  CHECK(contains(benchmark.refusal("[Global_Params]\nloss=mse\nloss=mse\n"),
                 "mine.txt:3: 'loss' stands twice"));
}

TEST_CASE("parameter file: a value of an INI file may take several lines, as in Python") {
  constexpr const char* lines = R"([G]
  dense = [1000,
      1000,
    1000]
  ; a comment
  rate =
     0.001
  text = one
      two
  last = 1
)";
  const Benchmark benchmark{"ini", lines, R"({"widths": "G/dense", "rate": "G/rate"})"};
  CHECK(contains(benchmark.refusal("[G]\ntext = one\n\n"), "is \"one\", and the recipe keeps it"));
  CHECK(benchmark.read("[G]\ntext = one\n  two\nrate = 2\n") == Set{{"rate", "2"}});
  CHECK(contains(benchmark.refusal("[G]\ntext = one\n  two\nrate\n"), "mine.txt:4: 'rate' is not"));
  CHECK(contains(benchmark.refusal("[a:b]\n  key = 1\n"), "'a:b/key' is unknown"));
  const std::string written = benchmark.written({1, 2}, 0.5);
  CHECK(contains(written, "dense = [1, 2]\n  ; a comment\n  rate =0.5\n  text = one\n      two\n"));
}

TEST_CASE("parameter file: values of another type are refused in every format") {
  const Benchmark benchmark = uno();
  const auto of = [&](const std::string& line) {
    return benchmark.refusal("[Global_Params]\n" + line);
  };
  CHECK(contains(of("dense = 5"), "'Global_Params/dense' is 5, not a list"));
  CHECK(contains(of("dense = [[1], 2]"), "not a list"));
  CHECK(contains(of("dense = [1, 'a']"), "not a list"));
  CHECK(contains(of("learning_rate = None"), "is null, not a number"));
  CHECK(contains(of("learning_rate = True"), "is true, not a number"));
  CHECK(contains(of("learning_rate = fast"), "is \"fast\", not a number"));
  CHECK(contains(benchmark.refusal("P=1\n[P]\nx=1\n"), "'P' is a key and a section"));
  CHECK(contains(benchmark.refusal("[Global_Params]\nloss=\xff\n"), "is not UTF-8"));
}

TEST_CASE("parameter file: texts of an INI file keep quotes, escapes and comments") {
  const test::TempHome home;
  base::write_file_atomically(home / "usual.txt", "a = 'x'  # which\nb = bare\nc = 'it\\'s'\n");
  spec::Recipe recipe = spec::parse_recipe(
      R"({"schema": 1, "name": "uno",
          "parameters": {"a": {"type": "string", "default": "x"},
                         "b": {"type": "string", "default": "bare"}},
          "parameter_file": {"file": "usual.txt", "format": "ini", "keys": {"a": "a", "b": "b"}},
          "stages": [{"name": "go", "run": ["cat", "{parameters}"]}]})",
      "recipe.json");
  recipe.directory = std::filesystem::path(home / "usual.txt").parent_path();
  const auto written = [&](const char* a, const char* b) {
    return write_parameter_file(recipe, {{"a", std::string(a)}, {"b", std::string(b)}});
  };
  CHECK(written("y", "other") == "a = 'y'  # which\nb = other\nc = 'it\\'s'\n");
  CHECK(written("x\nlr=9", "5") == "a = 'x\\nlr=9'  # which\nb = '5'\nc = 'it\\'s'\n");
  CHECK(read_parameter_file(recipe, written("x\nlr=9", "5"), "x") ==
        Set{{"a", "x\nlr=9"}, {"b", "5"}});
}

TEST_CASE("parameter file: a text that readers take for another one is refused or escaped") {
  const auto written = [](const std::string& format, const std::string& text, const char* value) {
    const test::TempHome home;
    base::write_file_atomically(home / "usual.txt", text);
    spec::Recipe recipe = spec::parse_recipe(
        R"({"schema": 1, "name": "uno", "parameters": {"a": {"type": "string", "default": "x"}},
            "parameter_file": {"file": "usual.txt", "format": ")" +
            format + R"(", "keys": {"a": "a"}},
            "stages": [{"name": "go", "run": ["cat", "{parameters}"]}]})",
        "recipe.json");
    recipe.directory = std::filesystem::path(home / "usual.txt").parent_path();
    return write_parameter_file(recipe, {{"a", std::string(value)}});
  };
  for (const char* text : {"a = x\n", "a = 'x'\n"}) {
    const base::Error error = error_of([&] { written("ini", text, "50%"); });
    CHECK(error.kind() == base::ErrorKind::usage);
    CHECK(contains(error.what(), "'a' of the INI file: cannot be "));
    CHECK(contains(error.what(), "takes '%' for a reference"));
  }
  CHECK(written("ini", "a = x\nb = 5%%\n", "y") == "a = y\nb = 5%%\n");
  CHECK(contains(written("yaml", "a: x\nz: \"1 \\u2028\"\n", "s\u2028 b\u0085"),
                 "a: \"s\\u2028 b\\x85\"\nz: \"1 \\u2028\""));
}

TEST_CASE("parameter file: YAML keeps the texts of values that nobody changes") {
  const Benchmark benchmark{
      "yaml",
      "model: {dense: [8]}\noptimizer: {rate: 1e-05}\na: no\nb: 0x10\nc: 010\nd: 1_000\ne: .inf\n",
      R"({"widths": "model/dense", "rate": "optimizer/rate"})"};
  const std::string text = benchmark.written({9}, 1e-5);
  for (const char* kept :
       {"rate: 1e-05", "a: no", "b: 0x10", "c: 010", "d: 1_000", "e: .inf", "[9]"}) {
    CAPTURE(kept, text);
    CHECK(contains(text, kept));
  }
  CHECK(benchmark.written({8}, 1e-5) == base::read_file(benchmark.home / "usual.txt"));
  CHECK(contains(benchmark.refusal("a: !!str 5\n"), "has the tag"));
  CHECK(contains(benchmark.refusal("a: no\n---\na: no\n"), "more than one document"));
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

TEST_CASE("parameter file: a parameter that YAML has twice, by an alias, is refused") {
  constexpr const char* shared = R"(defaults: &d
  rate: 0.1
  dense: [1]
train: {<<: *d, epochs: 4}
one: &one 3
two: *one
)";
  const Benchmark merged{
      "yaml", shared, R"({"widths": "defaults/dense", "rate": "defaults/rate"})"};
  const base::Error error = error_of([&] { merged.written({1}, 0.5); });
  CHECK(contains(error.what(), "' has an alias, so that its value stands twice"));
  CHECK(contains(error.hint(), "write the values out"));
  const Benchmark scalar{"yaml", shared, R"({"widths": "train/epochs", "rate": "two"})"};
  CHECK(contains(error_of([&] { scalar.written({1}, 0.5); }).what(), "'two' has an alias"));
}

TEST_CASE("parameter file: YAML keeps quotes of keys, and refuses what it would change") {
  constexpr const char* keys = R"(rate: 0.1
layers: {"1": 64, "on": 3, 2: 5}
dense: [1]
)";
  const Benchmark benchmark{"yaml", keys, R"({"widths": "dense", "rate": "rate"})"};
  const std::string text = benchmark.written({2}, 0.5);
  CHECK(contains(text, "\"1\": 64"));
  CHECK(contains(text, "\"on\": 3"));
  CHECK(contains(text, "\n  2: 5"));
  CHECK(contains(benchmark.refusal("layers: !!set {a, b}\n"), "mine.txt: has the tag"));
  CHECK(contains(benchmark.refusal("dense: !!python/tuple [3, 3]\n"), "has the tag"));
  CHECK(contains(benchmark.refusal("layers: {1: 64, \"1\": 3}\n"), "has the key '1' twice"));
  const Benchmark large{"yaml",
                        "rate: 0.1\ndense: [1]\nbig: 9223372036854775809\n",
                        R"({"widths": "dense", "rate": "rate"})"};
  CHECK(contains(large.refusal("big: 9223372036854775810\n"), "and the recipe keeps it"));
  CHECK(contains(large.written({2}, 0.5), "big: 9223372036854775809"));
  const Benchmark ini{"ini",
                      "rate = 0.1\ndense = [1]\nbig = 123456789012345678901\n",
                      R"({"widths": "dense", "rate": "rate"})"};
  CHECK(contains(ini.refusal("big = 123456789012345678902\n"), "and the recipe keeps it"));
}

TEST_CASE("parameter file: JSON keeps what is no parameter, or refuses it") {
  const Benchmark benchmark{
      "json",
      R"({"a": {"rate": 0.1}, "a/rate": 5, "w": [1], "big": 18446744073709551615})",
      R"({"widths": "w", "rate": "a/rate"})"};
  const std::string text = benchmark.written({2}, 0.5);
  CHECK(contains(text, "\"rate\": 0.5"));
  CHECK(contains(text, "\"a/rate\": 5"));
  CHECK(contains(text, "18446744073709551615"));
  CHECK(contains(benchmark.refusal(R"({"a/rate": 99})"),
                 "'a~1rate' is 99, and the recipe keeps it 5"));
  CHECK(contains(benchmark.refusal(R"({"big": 18446744073709551616})"),
                 "mine.txt: has the number 18446744073709551616, which takes more than 64 bits"));
  CHECK(benchmark.read(R"({"a": {"rate": 3e20}})") == Set{{"rate", "3e+20"}});
  const Benchmark other{"json", R"({"a/b": 0.1, "w": [1]})", R"({"widths": "w", "rate": "a~1b"})"};
  CHECK(contains(other.written({2}, 0.5), "\"a/b\": 0.5"));
}

TEST_CASE("parameter file: JSON is read and written") {
  const Benchmark benchmark{"json", json, R"({"widths": "model/dense", "rate": "rate"})"};
  CHECK(benchmark.read(R"({"rate": 2})") == Set{{"rate", "2"}});
  CHECK(benchmark.read(benchmark.written({1, 2}, 0.5)) == Set{{"widths", "1,2"}, {"rate", "0.5"}});
  CHECK(contains(benchmark.refusal("{"), "mine.txt:"));
  CHECK(contains(benchmark.refusal(R"({"rate": 1e999})"), "mine.txt"));
  CHECK(contains(benchmark.refusal(R"({"rate": 1, "rate": 2})"), "mine.txt"));
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
