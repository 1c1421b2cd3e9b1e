// Arrays that a file only says to have: nobody wrote most of their values.
#include "compare/nothing_held.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/compare/compare_runs.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

using namespace sabath;
using base::ArrayInfo;
using base::ArrayType;
using spec::Verdict;

namespace {

constexpr std::uint64_t vast = std::uint64_t{1} << 50U;

/// Arrays of 2^50 elements, "numbers" and "texts": all are `fill` but those from `begin` to before
/// `end`, which were written. Counts what is read.
class VastSource final : public base::ArraySource {
 public:
  explicit VastSource(double fill) : fill_(fill) {}

  void write(std::uint64_t begin, std::uint64_t end, double value) {
    begin_ = begin;
    end_ = end;
    value_ = value;
  }
  std::uint64_t elements_read() const { return elements_read_; }

  std::vector<ArrayInfo> list() override {
    return {{"numbers", ArrayType::float64, {vast}}, {"texts", ArrayType::text, {vast}}};
  }
  void read(const ArrayInfo& /*array*/,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    elements_read_ += count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const double value = value_at(first + i);
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  }
  std::vector<std::string> read_texts(const ArrayInfo& /*array*/,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    elements_read_ += count;
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i)
      texts.push_back(std::to_string(value_at(first + i)));
    return texts;
  }
  std::uint64_t unwritten(const ArrayInfo& /*array*/, std::uint64_t first) override {
    if (first >= begin_ && first < end_) return 0;
    return (first < begin_ ? begin_ : vast) - first;
  }

 private:
  double value_at(std::uint64_t index) const {
    return index >= begin_ && index < end_ ? value_ : fill_;
  }
  double fill_;
  std::uint64_t begin_ = vast;
  std::uint64_t end_ = vast;
  double value_ = 0;
  std::uint64_t elements_read_ = 0;
};

constexpr std::uint64_t few = 1'000'000;

}  // namespace

TEST_CASE("unwritten: values that nobody wrote are equal where their fill value is") {
  VastSource a(0);
  VastSource b(0);
  const auto comparison = compare::compare_files(a, b, spec::Rung::bitwise, {});
  CHECK(comparison.result == Verdict::pass);
  REQUIRE(comparison.outputs.size() == 2);
  for (const auto& item : comparison.outputs) {
    CHECK(item.compared == vast);
    CHECK(item.different == 0);
  }
  CHECK(a.elements_read() < few);
}

TEST_CASE("unwritten: where fill values differ they do everywhere") {
  VastSource a(0);
  VastSource b(3);
  const auto comparison = compare::compare_files(a, b, {}, {});
  CHECK(comparison.result == Verdict::fail);
  REQUIRE(comparison.outputs.size() == 2);
  for (const auto& item : comparison.outputs) {
    CHECK(item.compared == vast);
    CHECK(item.different == vast);
  }
  CHECK(comparison.outputs[0].beyond_tolerance == vast);
  CHECK(comparison.outputs[0].p999_ulps == comparison.outputs[0].max_ulps);
  CHECK(comparison.outputs[1].structure ==
        "'0.000000' in A, '3.000000' in B at [0], compared as text");
  CHECK(a.elements_read() < few);
}

TEST_CASE("unwritten: what only one side wrote is compared value by value, and no more than that") {
  VastSource a(0);
  VastSource b(0);
  constexpr std::uint64_t begin = vast / 2 + 12345;
  b.write(begin, begin + 500'000, 1);
  const auto comparison = compare::compare_files(a, b, {}, {});
  CHECK(comparison.result == Verdict::fail);
  REQUIRE(comparison.outputs.size() == 2);
  for (const auto& item : comparison.outputs)
    CHECK(item.different == 500'000);
  CHECK(comparison.outputs[0].first_bitwise->where == "[" + std::to_string(begin) + "]");
  CHECK(b.elements_read() < 2 * few);
}

TEST_CASE("unwritten: an array of NaN that nobody wrote is known to be nothing else") {
  VastSource nan(std::numeric_limits<double>::quiet_NaN());
  CHECK(compare::arrays_of_only_nan(nan) == std::vector<std::string>{"numbers"});
  nan.write(vast / 2, vast / 2 + 1, 1);
  CHECK(compare::arrays_of_only_nan(nan).empty());
  CHECK(nan.elements_read() < few);
}
