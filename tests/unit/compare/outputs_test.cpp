#include "pair_maker.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using Catch::Matchers::Contains;
using spec::Rung;
using spec::Verdict;

namespace {

std::shared_ptr<Container> container() {
  return std::make_shared<Container>();
}

std::shared_ptr<Container> with_values(const std::vector<double>& values) {
  auto made = container();
  made->put("g/d", ArrayType::float64, {values.size()}, values);
  return made;
}

const spec::ItemComparison& item_of(const spec::Comparison& comparison, const std::string& name) {
  for (const auto& item : comparison.outputs) {
    if (item.name == name) return item;
  }
  FAIL("no item '" << name << "'");
  return comparison.outputs.front();
}

/// The comparison of two runs whose only output is x.h5 with these contents.
spec::Comparison compare_contents(const std::shared_ptr<Container>& a,
                                  const std::shared_ptr<Container>& b,
                                  const compare::Rules& rules = {},
                                  const compare::Options& options = {}) {
  return compare_two(Run().output("train", "x.h5", "aa", a),
                     Run().output("train", "x.h5", "bb", b),
                     rules,
                     options);
}

}  // namespace

TEST_CASE("outputs: equal digests are equal to the bit and hardly anything is read") {
  const auto content = with_values(std::vector<double>(100'000, 1.5));
  const auto comparison = compare_two(Run().output("train", "x.h5", "aa", content),
                                      Run().output("train", "x.h5", "aa", content),
                                      {});
  CHECK(content->opened == 1);
  CHECK(content->bytes_read < 10'000);
  CHECK(comparison.strongest == Rung::bitwise);
  CHECK(comparison.result == Verdict::pass);
  CHECK(item_of(comparison, "train/x.h5").strongest == Rung::bitwise);
}

TEST_CASE("outputs: whole numbers that no double tells apart are told with all their digits") {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto with = [](std::int64_t value) {
    auto made = container();
    made->put<std::int64_t>("n", ArrayType::int64, {1}, {value});
    return made;
  };
  const auto comparison =
      compare_contents(with(large), with(large - 1), {}, {.require = Rung::bitwise});
  CHECK(comparison.result == Verdict::fail);
  CHECK_THAT(comparison.reason, Contains("(9007199254740993 against 9007199254740992"));
  REQUIRE(comparison.first_divergence);
  CHECK(comparison.first_divergence->a == comparison.first_divergence->b);
  CHECK(to_json(comparison).at("first_divergence").at("whole_a") == "9007199254740993");
  const auto small = compare_contents(with(100), with(101), {}, {.require = Rung::bitwise});
  CHECK_THAT(small.reason, Contains("(100 against 101"));
  CHECK_FALSE(small.first_divergence->whole_a);
}

TEST_CASE("outputs: numbers that were compared as text say so") {
  const auto with = [](const std::string& text) {
    auto made = container();
    made->put_text("n", {text});
    return made;
  };
  const auto reason = [&](const std::string& a, const std::string& b) {
    return compare_contents(with(a), with(b), {}, {}).reason;
  };
  CHECK_THAT(reason("9007199254740993", "9007199254740992"),
             Contains("in B at [0], compared as text: whole numbers beyond 2^53"));
  CHECK_THAT(reason("1", "2"), Contains("in B at [0], compared as text;"));
  CHECK_THAT(reason("one", "2"), !Contains("compared as text"));
}

TEST_CASE("outputs: equal bytes that only point outside prove nothing of what they point to") {
  const auto pointing_to = [](const std::vector<std::string>& files) {
    Run run;
    run.output("train", "parts/master.h5", "aa", container()).output("train", "parts/1.h5", "bb");
    run.outputs["train/parts/master.h5"].outside = [files](const spec::OutputRule&) {
      std::vector<base::OutsideValues> outside;
      for (const std::string& file : files)
        outside.push_back({"view", file});
      return outside;
    };
    return compare_two(run, run, {});
  };
  CHECK(pointing_to({}).result == Verdict::inconclusive);  // it holds no value
  CHECK(pointing_to({"1.h5", "./1.h5", "../parts/1.h5"}).result == Verdict::pass);
  for (const char* file : {"2.h5", "/parts/1.h5", "../1.h5", "%b.h5"}) {
    const auto comparison = pointing_to({"1.h5", file});
    INFO(file);
    CHECK(comparison.result == Verdict::inconclusive);
    CHECK(comparison.reason == "train/parts/master.h5:/view has its values in '" +
                                   std::string(file) + "', which is not a declared output");
  }
  const auto many = pointing_to({"a", "b", "c", "d", "e"});
  CHECK_THAT(many.reason, Contains("2 more arrays of train/parts/master.h5 cannot be judged"));
}

TEST_CASE("outputs: arrays of nothing but NaN agree in nothing") {
  const double nan = std::nan("");
  const auto some = with_values({nan, 1});
  const auto none = with_values(std::vector<double>(2'000, nan));
  none->put<std::int32_t>("n", ArrayType::int32, {1}, {1});
  const std::string reason = "train/x.h5:/g/d is NaN in every value";
  CHECK(compare_contents(some, some).result == Verdict::pass);
  CHECK(compare_contents(none, none).result == Verdict::inconclusive);
  CHECK(compare_contents(none, none).reason == reason);
  const auto same_bytes = [&](const std::shared_ptr<Container>& content) {
    return compare_two(Run().output("train", "x.h5", "aa", content),
                       Run().output("train", "x.h5", "aa", content),
                       {});
  };
  CHECK(same_bytes(some).result == Verdict::pass);
  CHECK(same_bytes(none).result == Verdict::inconclusive);
  CHECK(same_bytes(none).reason == reason);
  auto late = with_values(std::vector<double>(2'000, nan));
  late->put<double>("g/d", ArrayType::float64, {2'000}, [&] {
    std::vector<double> values(2'000, nan);
    values.back() = 0;
    return values;
  }());
  CHECK(same_bytes(late).result == Verdict::pass);
}

TEST_CASE("outputs: a fill value of NaN, and an array without elements, are no lack of numbers") {
  auto content = with_values({1});
  content->put<double>("g/d@_FillValue", ArrayType::float64, {1}, {std::nan("")}, true);
  content->put<double>("empty", ArrayType::float64, {0}, {});
  CHECK(compare_contents(content, content).result == Verdict::pass);
  CHECK(compare_two(Run().output("train", "x.h5", "aa", content),
                    Run().output("train", "x.h5", "aa", content),
                    {})
            .result == Verdict::pass);
}

TEST_CASE("outputs: the content decides, not the bytes of the container") {
  const auto comparison = compare_contents(with_values({1, 2}), with_values({1, 2}));
  CHECK(item_of(comparison, "train/x.h5:/g/d").compared == 2);
  CHECK(comparison.strongest == Rung::bitwise);
  CHECK(comparison.result == Verdict::pass);
}

TEST_CASE("outputs: a differing value is told by array and index") {
  auto a = container();
  auto b = container();
  a->put<double>("d", ArrayType::float64, {2, 3}, {0, 1, 2, 3, 4, 5});
  b->put<double>("d", ArrayType::float64, {2, 3}, {0, 1, 2, 3, 4, 5.5});
  const auto comparison = compare_contents(a, b);
  const auto& item = item_of(comparison, "train/x.h5:/d");
  CHECK(item.first_bitwise->where == "[1, 2]");
  CHECK(item.first_bitwise->position == 5);
  CHECK_FALSE(item.strongest);
  CHECK(comparison.result == Verdict::fail);
  CHECK(comparison.first_divergence_in == "train/x.h5:/d");
  CHECK_THAT(comparison.reason, Contains("[1, 2]") && Contains("5 against 5.5"));
}

TEST_CASE("outputs: the recipe's tolerance is found by declared path, the option overrides it") {
  compare::Rules rules;
  rules.outputs["x.h5"] = {"hdf5", {{}, 0.5, {}}};
  CHECK(compare_contents(with_values({1}), with_values({1.5}), rules).strongest == Rung::tolerance);
  compare::Options options;
  options.tolerance.relative = 0.1;
  CHECK_FALSE(compare_contents(with_values({1}), with_values({1.5}), rules, options).strongest);
}

TEST_CASE("outputs: an array that only one side has breaks every rung") {
  auto more = with_values({1});
  more->put<double>("z", ArrayType::float64, {3}, {1, 2, 3});
  const auto comparison = compare_contents(more, with_values({1}));
  const auto& item = item_of(comparison, "train/x.h5:/z");
  CHECK(item.structure == "only in A");
  CHECK(item.missing == 3);
  CHECK(comparison.result == Verdict::fail);
  const auto swapped = compare_contents(with_values({1}), more);
  CHECK(item_of(swapped, "train/x.h5:/z").structure == "only in B");
}

TEST_CASE("outputs: arrays are paired by path where each side has some of its own") {
  auto a = with_values({1});
  auto b = with_values({1});
  for (const char* path : {"a", "g/c", "z"})
    a->put<double>(path, ArrayType::float64, {1}, {1});
  for (const char* path : {"b", "g/e"})
    b->put<double>(path, ArrayType::float64, {1}, {1});
  const auto comparison = compare_contents(a, b);
  std::vector<std::string> told;
  for (const auto& item : comparison.outputs)
    told.push_back(item.name + " " + item.structure);
  CHECK(told == std::vector<std::string>{"train/x.h5:/a only in A",
                                         "train/x.h5:/b only in B",
                                         "train/x.h5:/g/c only in A",
                                         "train/x.h5:/g/d ",
                                         "train/x.h5:/g/e only in B",
                                         "train/x.h5:/z only in A"});
}

TEST_CASE("outputs: another shape or type is a difference of structure") {
  auto a = container();
  auto b = container();
  a->put<double>("shape", ArrayType::float64, {2, 3}, std::vector<double>(6));
  b->put<double>("shape", ArrayType::float64, {3, 2}, std::vector<double>(6));
  a->put<double>("type", ArrayType::float64, {}, {1});
  b->put<float>("type", ArrayType::float32, {}, {1});
  const auto comparison = compare_contents(a, b);
  CHECK(item_of(comparison, "train/x.h5:/shape").structure == "shape [2, 3] in A, [3, 2] in B");
  CHECK(item_of(comparison, "train/x.h5:/type").structure == "float64 in A, float32 in B");
  CHECK_FALSE(comparison.strongest);
}

TEST_CASE("outputs: texts are equal or not") {
  auto a = container();
  auto b = container();
  a->put_text("units", {"m", "s"});
  b->put_text("units", {"m", "K"});
  const auto comparison = compare_contents(a, b);
  const auto& item = item_of(comparison, "train/x.h5:/units");
  CHECK(item.structure == "'s' in A, 'K' in B at [1]");
  CHECK(item.different == 1);
  CHECK(comparison.result == Verdict::fail);
  CHECK(compare_contents(a, a).strongest == Rung::bitwise);
}

TEST_CASE("outputs: of long texts is shown where they differ") {
  auto a = container();
  auto b = container();
  const std::string same(200, '=');
  a->put_text("configuration", {same + "\u00e4 is 1;" + same});
  b->put_text("configuration", {same + "\u00e4 is 2;" + same});
  a->put_text("longer", {same});
  b->put_text("longer", {same + "!"});
  const auto comparison = compare_contents(a, b);
  const std::string lead = "..." + std::string(9, '=') + "\u00e4 is ";
  const std::string rest = ";" + std::string(43, '=') + "...";
  CHECK(item_of(comparison, "train/x.h5:/configuration").structure ==
        "'" + lead + "1" + rest + "' in A, '" + lead + "2" + rest + "' in B at [0]");
  CHECK(item_of(comparison, "train/x.h5:/longer").structure ==
        "'..." + std::string(15, '=') + "' in A, '..." + std::string(15, '=') + "!' in B at [0]");
}

TEST_CASE("outputs: an attribute and an array of one name are different things") {
  auto a = with_values({1});
  auto b = with_values({1});
  a->put<double>("g/d", ArrayType::float64, {1}, {7}, true);
  b->put<double>("g/d", ArrayType::float64, {1}, {7}, true);
  CHECK(compare_contents(a, b).outputs.size() == 2);
  CHECK(compare_contents(a, b).strongest == Rung::bitwise);
}

TEST_CASE("outputs: arrays larger than a block are read in blocks and in whole") {
  constexpr std::size_t length = 1'500'000;
  std::vector<double> values(length);
  for (std::size_t i = 0; i < length; ++i)
    values[i] = static_cast<double>(i);
  const auto a = with_values(values);
  values[length - 1] = -1;
  values[length / 2] = std::nextafter(values[length / 2], 0);
  const auto b = with_values(values);
  const auto comparison = compare_contents(a, b);
  const auto& item = item_of(comparison, "train/x.h5:/g/d");
  CHECK(item.compared == length);
  CHECK(item.different == 2);
  CHECK(item.first_bitwise->position == length / 2);
  CHECK(item.first_bitwise->ulps == 1);
  CHECK(item.first_tolerance->position == length - 1);
  CHECK(a->bytes_read == length * sizeof(double));
  CHECK(a->largest_read_bytes <= std::uint64_t{32} << 20U);
}

TEST_CASE("outputs: other files are compared by their bytes alone") {
  const auto comparison = compare_two(
      Run().output("train", "log.txt", "aa"), Run().output("train", "log.txt", "bb"), {});
  CHECK(comparison.outputs.at(0).structure ==
        "bytes differ (100 bytes in A, 100 bytes in B); only arrays and metrics have a tolerance");
  CHECK(comparison.result == Verdict::fail);
  compare::Rules bytes;
  bytes.outputs["x.h5"] = {"bytes", {}};
  const auto content = with_values({1});
  CHECK(compare_contents(content, content, bytes).result == Verdict::fail);
  CHECK(content->opened == 0);
}

TEST_CASE("outputs: an output that only one run has fails") {
  const auto comparison =
      compare_two(Run().output("train", "x.h5", "aa").output("train", "y.h5", "cc"),
                  Run().output("train", "x.h5", "aa"),
                  {});
  CHECK(item_of(comparison, "train/y.h5").structure == "only in A");
  CHECK(comparison.result == Verdict::fail);
}

TEST_CASE("outputs: content that is gone or empty is inconclusive") {
  const auto gone = compare_contents(with_values({1}), nullptr);
  CHECK(gone.result == Verdict::inconclusive);
  CHECK_THAT(gone.reason, Contains("train/x.h5"));
  const auto empty = compare_contents(container(), container());
  CHECK(empty.result == Verdict::inconclusive);
  CHECK_THAT(empty.reason, Contains("holds no value"));
}

TEST_CASE("outputs: an output that only the record knows is compared by its digest") {
  Run a;
  Run b;
  a.record.outputs = {{"train", "log.txt", 5, {base::DigestAlgorithm::sha256, "aa"}}};
  b.record.outputs = a.record.outputs;
  CHECK(compare_two(a, b, {}).result == Verdict::pass);
  b.record.outputs[0].digest.hex = "bb";
  CHECK(compare_two(a, b, {}).result == Verdict::fail);
}

TEST_CASE("outputs: an array that cannot be read is inconclusive, and the others are compared") {
  auto a = with_values({1});
  a->put<double>("packed", ArrayType::float64, {1}, {1});
  a->arrays.at({"packed", false}).info.unreadable = "is packed with filter 305";
  const auto comparison = compare_contents(a, a);
  CHECK(comparison.result == Verdict::inconclusive);
  CHECK(comparison.reason == "train/x.h5:/packed is packed with filter 305");
  CHECK(comparison.outputs.size() == 1);
  auto b = with_values({2});
  b->put<double>("packed", ArrayType::float64, {1}, {1});
  CHECK(compare_contents(a, b).result == Verdict::fail);
}

TEST_CASE("outputs: of many arrays that cannot be read a few are named") {
  auto a = with_values({1});
  for (const char* name : {"p", "q", "r", "s", "t"}) {
    a->put<double>(name, ArrayType::float64, {1}, {1});
    a->arrays.at({name, false}).info.unreadable = "is away";
  }
  CHECK_THAT(compare_contents(a, a).reason,
             Contains("/p is away") && !Contains("/s is away") &&
                 Contains("2 more arrays of train/x.h5 cannot be judged"));
}

TEST_CASE("outputs: an index is told as it is, also in column-major order") {
  auto a = container();
  auto b = container();
  a->put<double>("d", ArrayType::float64, {2, 3}, {0, 1, 2, 3, 4, 5});
  b->put<double>("d", ArrayType::float64, {2, 3}, {0, 1, 2, 9, 4, 5});
  for (const auto& side : {a, b})
    side->arrays.at({"d", false}).info.column_major = true;
  const auto comparison = compare_contents(a, b);
  CHECK(comparison.outputs.at(0).first_bitwise->where == "[1, 1]");
  CHECK(comparison.outputs.at(0).first_bitwise->position == 4);
}

TEST_CASE("outputs: names and texts from outside are made printable") {
  auto a = container();
  auto b = container();
  a->put_text("bad\x1b[31m", {"\xff"});
  b->put_text("bad\x1b[31m", {"\x07"});
  const auto comparison = compare_contents(a, b);
  const auto& item = comparison.outputs.at(0);
  CHECK(item.name == "train/x.h5:/bad\\x1b[31m");
  CHECK(item.structure == "'\\xff' in A, '\\x07' in B at [0]");
}

TEST_CASE("outputs: the content says whether it is arrays, not the name") {
  const auto content = with_values({1});
  const auto named = [&](const std::string& path, const std::shared_ptr<Container>& of_b) {
    return compare_two(
        Run().output("train", path, "aa", content), Run().output("train", path, "bb", of_b), {});
  };
  CHECK(named("result", with_values({1})).result == Verdict::pass);
  auto none = Run().output("train", "x.h5", "bb", content);
  none.outputs["train/x.h5"].open = [](const spec::OutputRule&) { return nullptr; };
  const auto mixed = compare_two(Run().output("train", "x.h5", "aa", content), none, {});
  CHECK_THAT(mixed.outputs.at(0).structure,
             Catch::StartsWith("bytes differ (100 bytes in A, 100 bytes in B)"));
}

namespace {

/// The only output is x.h5, of which these arrays are predictions.
spec::Comparison compare_predictions(const std::shared_ptr<Container>& a,
                                     const std::shared_ptr<Container>& b,
                                     const std::map<std::string, spec::Prediction>& predictions) {
  compare::Rules rules;
  rules.outputs["x.h5"].tolerance = {1e9, {}, {}};
  rules.outputs["x.h5"].predictions = predictions;
  compare::Options options;
  options.require = Rung::tolerance;
  return compare_contents(a, b, rules, options);
}

/// Churn of scores of that shape.
template <class T>
double churn_of(ArrayType type,
                const std::vector<std::uint64_t>& shape,
                const std::vector<T>& of_a,
                const std::vector<T>& of_b) {
  auto a = container();
  auto b = container();
  a->put("d", type, shape, of_a);
  b->put("d", type, shape, of_b);
  const auto comparison = compare_predictions(a, b, {{"d", spec::Prediction::argmax}});
  return item_of(comparison, "train/x.h5:/d").churn.value();
}

}  // namespace

TEST_CASE("churn: the share of labels that are others, of numbers and of texts") {
  auto a = container();
  auto b = container();
  a->put<std::int32_t>("n", ArrayType::int32, {2, 2}, {0, 1, 2, 1});
  b->put<std::int32_t>("n", ArrayType::int32, {2, 2}, {0, 1, 1, 1});
  a->put_text("t", {"cat", "dog", "owl", "dog", "cat"});
  b->put_text("t", {"cat", "cat", "owl", "cat", "cat"});
  a->put<double>("other", ArrayType::float64, {1}, {1});
  b->put<double>("other", ArrayType::float64, {1}, {2});
  const auto comparison =
      compare_predictions(a, b, {{"n", spec::Prediction::labels}, {"t", spec::Prediction::labels}});
  CHECK(item_of(comparison, "train/x.h5:/n").predictions == 4U);
  CHECK(item_of(comparison, "train/x.h5:/n").churn == 0.25);
  CHECK(item_of(comparison, "train/x.h5:/t").predictions == 5U);
  CHECK(item_of(comparison, "train/x.h5:/t").churn == 0.4);
  CHECK_FALSE(item_of(comparison, "train/x.h5:/other").churn);
}

TEST_CASE("churn: of scores the greatest of each row, whatever else differs") {
  using Floats = std::vector<float>;
  const Floats scores{0.1F, 0.7F, 0.2F, 0.5F, 0.4F, 0.1F};
  CHECK(churn_of<float>(ArrayType::float32, {2, 3}, scores, {0.2F, 0.5F, 0.3F, 0.6F, 0.3F, 0.1F}) ==
        0);
  CHECK(churn_of<float>(ArrayType::float32, {2, 3}, scores, {0.2F, 0.5F, 0.3F, 0.4F, 0.5F, 0.1F}) ==
        0.5);
  CHECK(churn_of<float>(ArrayType::float32, {2, 3}, scores, scores) == 0);
  // The last axis, whatever is before it.
  CHECK(churn_of<float>(ArrayType::float32, {1, 2, 3}, scores, {1, 0, 0, 0, 0, 1}) == 1);
  CHECK(churn_of<float>(ArrayType::float32, {6}, scores, {0, 0, 0, 1, 0, 0}) == 1);
  // Of equals the first.
  CHECK(churn_of<double>(ArrayType::float64, {1, 3}, {2, 2, 1}, {2, 1, 2}) == 0);
  CHECK(churn_of<double>(ArrayType::float64, {1, 3}, {2, 2, 1}, {1, 2, 2}) == 1);
  // Below zero, as signed and unsigned numbers have it.
  CHECK(churn_of<double>(ArrayType::float64, {1, 2}, {-1, -2}, {-2, -1}) == 1);
  CHECK(churn_of<std::int8_t>(ArrayType::int8, {1, 2}, {-1, 1}, {0, 1}) == 0);
  CHECK(churn_of<std::uint8_t>(ArrayType::uint8, {1, 2}, {200, 100}, {1, 2}) == 1);
}

TEST_CASE("churn: NaN is the greatest, as NumPy has it") {
  const double none = std::nan("");
  CHECK(churn_of<double>(ArrayType::float64, {1, 3}, {1, none, 2}, {1, 3, 2}) == 0);
  CHECK(churn_of<double>(ArrayType::float64, {1, 3}, {none, 1, 2}, {0, 1, 2}) == 1);
  CHECK(churn_of<double>(ArrayType::float64, {1, 3}, {0, none, none}, {0, none, 1}) == 0);
}

TEST_CASE("churn: rows of many blocks are counted to the last one, block by block") {
  constexpr std::size_t rows = 100'000;  // a block holds no whole number of rows of three
  std::vector<double> of_a(3 * rows, 0);
  for (std::size_t row = 0; row < rows; ++row)
    of_a[3 * row + row % 3] = 1;
  std::vector<double> of_b = of_a;
  std::size_t changed = 0;
  for (std::size_t row = 0; row < rows; row += 997) {
    of_b[3 * row + (row + 1) % 3] = 2;
    ++changed;
  }
  of_b[3 * (rows - 1) + rows % 3] = 2;
  ++changed;
  auto a = container();
  auto b = container();
  a->put("d", ArrayType::float64, {rows, 3}, of_a);
  b->put("d", ArrayType::float64, {rows, 3}, of_b);
  const auto comparison = compare_predictions(a, b, {{"d", spec::Prediction::argmax}});
  const auto& item = item_of(comparison, "train/x.h5:/d");
  CHECK(item.predictions == rows);
  CHECK(item.churn == static_cast<double>(changed) / rows);
  CHECK(a->largest_read_bytes <= 1U << 20U);
}

TEST_CASE("churn: is told and not judged, and what cannot be counted is not evaluated") {
  auto a = container();
  auto b = container();
  a->put<double>("d", ArrayType::float64, {2, 2}, {0, 1, 0, 1});
  b->put<double>("d", ArrayType::float64, {2, 2}, {1, 0, 1, 0});
  a->put_text("t", {"x"});
  b->put_text("t", {"x"});
  a->put<double>("s", ArrayType::float64, {}, {1});
  b->put<double>("s", ArrayType::float64, {}, {1});
  const auto told = compare_predictions(a, b, {{"d", spec::Prediction::argmax}});
  CHECK(item_of(told, "train/x.h5:/d").churn == 1.0);
  CHECK(told.result == Verdict::pass);
  for (const char* path : {"t", "s", "nowhere"}) {
    const auto undecided = compare_predictions(a, b, {{path, spec::Prediction::argmax}});
    CHECK(undecided.result == Verdict::inconclusive);
    CHECK_THAT(undecided.reason, Contains("the predictions train/x.h5:/" + std::string(path)));
  }
  b->put<double>("d", ArrayType::float64, {4}, {0, 1, 0, 1});
  const auto other = compare_predictions(a, b, {{"d", spec::Prediction::argmax}});
  CHECK(other.result == Verdict::fail);
  CHECK_FALSE(item_of(other, "train/x.h5:/d").churn);
}
