#pragma once

#include "statistics/number_format.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/comparison.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sabath::compare {

/// The 99.9th percentile of a stream of whole numbers of known length. Keeps only the largest
/// thousandth. Exact (nearest rank) up to four thousand million numbers. Beyond that memory stays
/// bounded and the answer is a higher percentile, never a lower one.
class UpperTail {
 public:
  /// Expects `expected` numbers; zeros need not be added.
  explicit UpperTail(std::uint64_t expected);
  void add(std::uint64_t number, std::uint64_t times = 1) {
    for (times = std::min<std::uint64_t>(times, keep_); times > 0 && number > floor_; --times)
      keep(number);
  }
  /// The smallest number that at least 99.9 % of all do not exceed.
  std::uint64_t p999();

 private:
  void keep(std::uint64_t number);
  void shrink();

  std::size_t keep_;
  std::uint64_t floor_ = 0;  ///< numbers up to here do not matter
  std::vector<std::uint64_t> numbers_{};
};

/// Counts how two sequences of numbers agree, block by block, in constant memory.
class ValueDifferences {
 public:
  /// Expects `expected` pairs of the numeric type `type`. All parts of `tolerance` are set.
  ValueDifferences(base::ArrayType type, const spec::Tolerance& tolerance, std::uint64_t expected);

  /// Adds the next values of both sides: equally many bytes, in native byte order. Each pair counts
  /// `times` times in a row.
  void add(std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t times = 1);

  /// Adds the next numbers of a metric (the type is float64).
  void add_exact(std::span<const base::ExactNumber> a, std::span<const base::ExactNumber> b);

  /// Adds `count` pairs of equal bits, including `nans` pairs of NaN.
  void add_equal(std::uint64_t count, std::uint64_t nans) {
    item_.compared += count;
    item_.nan_pairs += nans;
  }

  /// Returns the result without its name. `locate` gets each divergence with the number of its pair
  /// as `position` and completes it.
  spec::ItemComparison finish(const std::function<void(spec::Divergence&)>& locate);

 private:
  template <class Format>
  void add_values(const std::byte* a, const std::byte* b, std::size_t count, std::uint64_t times);
  template <class Format>
  void add_difference(typename Format::Bits a, typename Format::Bits b, std::uint64_t times);

  base::ArrayType type_;
  UpperTail distances_;
  spec::ItemComparison item_{};
};

/// Strongest rung that an item holds; none where its structure differs (missing records do).
std::optional<spec::Rung> strongest_rung(const spec::ItemComparison& item);

}  // namespace sabath::compare
