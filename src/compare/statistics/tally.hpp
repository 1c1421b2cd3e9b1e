#pragma once

#include "number_format.hpp"
#include "upper_tail.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace sabath::compare {

/// Counts how two sequences of numbers agree, block by block, in constant memory.
class Tally {
 public:
  /// `expected` pairs will come, of the numeric type `type`; `tolerance` has all parts filled in.
  Tally(base::ArrayType type, const spec::Tolerance& tolerance, std::uint64_t expected);

  /// The next values of both sides: as many bytes of each, native byte order.
  /// Each pair counts as `times` of them, one after the other.
  void add(std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t times = 1);

  /// The next numbers of both sides, as many of each, of a metric (the type is float64).
  void add_exact(std::span<const base::ExactNumber> a, std::span<const base::ExactNumber> b);

  /// As many pairs of equal bits, so many of them NaN.
  void add_equal(std::uint64_t count, std::uint64_t nans) {
    item_.compared += count;
    item_.nan_pairs += nans;
  }

  /// The result without its name. `locate` is given each divergence with the ordinal of its pair as
  /// `position` and completes it.
  spec::ItemComparison finish(const std::function<void(spec::Divergence&)>& locate);

 private:
  template <class Format>
  void add_values(const std::byte* a, const std::byte* b, std::size_t count, std::uint64_t times);
  template <class Format>
  void add_difference(typename Format::Bits a, typename Format::Bits b, std::uint64_t times);
  bool within_tolerance(const Difference& difference) const;

  base::ArrayType type_;
  UpperTail distances_;
  spec::ItemComparison item_{};
};

/// The strongest rung that an item leaves standing; none where its structure differs (missing
/// records are a difference of structure).
std::optional<spec::Rung> strongest_rung(const spec::ItemComparison& item);

}  // namespace sabath::compare
