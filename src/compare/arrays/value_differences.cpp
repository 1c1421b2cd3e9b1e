#include "value_differences.hpp"

#include "tolerance.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace sabath::compare {
namespace {

constexpr std::array<double, 3> growth_limits{1e-6, 1e-4, 1e-2};
/// Number of values compared by one memcmp.
constexpr std::size_t stretch = 1024;
constexpr std::uint64_t most_kept = 1U << 22U;

template <class Bits>
Bits load(const std::byte* values, std::size_t index) {
  Bits bits{};
  std::memcpy(&bits, values + index * sizeof bits, sizeof bits);
  return bits;
}

template <class Format>
std::uint64_t count_nans(const std::byte* values, std::size_t count) {
  using Bits = typename Format::Bits;
  std::uint64_t nans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Bits bits = load<Bits>(values, i);
    if constexpr (std::is_same_v<Format, Float64> || std::is_same_v<Format, Float32>) {
      const auto value = Format::value(bits);
      nans += value != value ? 1U : 0U;  // which processors do with several at once
    } else {
      nans += Format::is_nan(bits) ? 1U : 0U;
    }
  }
  return nans;
}

bool is_beyond_doubles(const spec::Divergence& at) {
  return std::max(std::abs(at.a), std::abs(at.b)) >= base::first_inexact_whole;
}

template <class Integer>
void keep_digits(Integer a, Integer b, spec::Divergence& at) {
  if (!is_beyond_doubles(at)) return;
  at.whole_a = std::to_string(a);
  at.whole_b = std::to_string(b);
}

void keep_digits(const ExactFormat::Bits& a, const ExactFormat::Bits& b, spec::Divergence& at) {
  const base::ExactNumber of_a = ExactFormat::number(a);
  const base::ExactNumber of_b = ExactFormat::number(b);
  if (of_a.rest == 0 && of_b.rest == 0) return;
  at.whole_a = base::text_of(of_a);
  at.whole_b = base::text_of(of_b);
}

}  // namespace

UpperTail::UpperTail(std::uint64_t expected)
    : keep_(static_cast<std::size_t>(std::min(expected / 1000 + 1, most_kept))) {}

void UpperTail::keep(std::uint64_t number) {
  numbers_.push_back(number);
  if (numbers_.size() >= 2 * keep_) shrink();
}

void UpperTail::shrink() {
  const auto last_kept = numbers_.begin() + static_cast<std::ptrdiff_t>(keep_ - 1);
  std::nth_element(numbers_.begin(), last_kept, numbers_.end(), std::greater<>());
  floor_ = *last_kept;
  numbers_.resize(keep_);
}

std::uint64_t UpperTail::p999() {
  if (numbers_.size() < keep_) return 0;
  shrink();
  return floor_;
}

ValueDifferences::ValueDifferences(base::ArrayType type,
                                   const spec::Tolerance& tolerance,
                                   std::uint64_t expected)
    : type_(type), distances_(expected) {
  item_.tolerance = tolerance;
}

void ValueDifferences::add(std::span<const std::byte> a,
                           std::span<const std::byte> b,
                           std::uint64_t times) {
  const std::size_t count = a.size() / base::size_of(type_);
  const bool are_numbers = with_format(
      type_, [&](auto format) { add_values<decltype(format)>(a.data(), b.data(), count, times); });
  if (are_numbers) return;
  throw base::Error(base::ErrorKind::internal,
                    "comparison: cannot compare: not an array of numbers");
}

void ValueDifferences::add_exact(std::span<const base::ExactNumber> a,
                                 std::span<const base::ExactNumber> b) {
  static_assert(sizeof(ExactFormat::Bits) == sizeof(base::ExactNumber));
  add_values<ExactFormat>(std::as_bytes(a).data(), std::as_bytes(b).data(), a.size(), 1);
}

template <class Format>
void ValueDifferences::add_values(const std::byte* a,
                                  const std::byte* b,
                                  std::size_t count,
                                  std::uint64_t times) {
  using Bits = typename Format::Bits;
  for (std::size_t from = 0; from < count; from += stretch) {
    const std::size_t length = std::min(stretch, count - from);
    const std::byte* const at_a = a + from * sizeof(Bits);
    const std::byte* const at_b = b + from * sizeof(Bits);
    if (std::memcmp(at_a, at_b, length * sizeof(Bits)) == 0) {
      item_.nan_pairs += count_nans<Format>(at_a, length) * times;
      item_.compared += length * times;
      continue;
    }
    for (std::size_t i = 0; i < length; ++i, item_.compared += times) {
      const Bits of_a = load<Bits>(at_a, i);
      const Bits of_b = load<Bits>(at_b, i);
      if (of_a != of_b) {
        add_difference<Format>(of_a, of_b, times);
      } else if (Format::is_nan(of_a)) {
        item_.nan_pairs += times;
      }
    }
  }
}

template <class Format>
void ValueDifferences::add_difference(typename Format::Bits a,
                                      typename Format::Bits b,
                                      std::uint64_t times) {
  const Difference difference = Format::difference(a, b);
  const auto mark = [&](std::optional<spec::Divergence>& first) {
    if (first) return;
    first = spec::Divergence{{},
                             static_cast<std::int64_t>(item_.compared),
                             difference.a,
                             difference.b,
                             difference.relative,
                             difference.ulps};
    if constexpr (Format::has_whole_numbers) keep_digits(a, b, *first);
  };
  item_.different += times;
  mark(item_.first_bitwise);
  if (difference.nan_pair) {
    item_.nan_pairs += times;
    return;
  }
  item_.max_ulps = std::max(item_.max_ulps, difference.ulps);
  item_.max_absolute = std::max(item_.max_absolute, difference.absolute);
  item_.max_relative = std::max(item_.max_relative, difference.relative);
  distances_.add(difference.ulps, times);
  if (difference.ulps > *item_.tolerance.ulp) mark(item_.first_ulp);
  if (!is_within(difference, item_.tolerance)) {
    item_.beyond_tolerance += times;
    mark(item_.first_tolerance);
  }
  for (std::size_t i = 0; i < growth_limits.size(); ++i) {
    if (difference.relative > growth_limits[i]) mark(item_.growth[i]);
  }
}

spec::ItemComparison ValueDifferences::finish(
    const std::function<void(spec::Divergence&)>& locate) {
  item_.p999_ulps = distances_.p999();
  item_.strongest = strongest_rung(item_);
  for (auto* first : {&item_.first_bitwise,
                      &item_.first_ulp,
                      &item_.first_tolerance,
                      &item_.growth[0],
                      &item_.growth[1],
                      &item_.growth[2]}) {
    if (*first) locate(**first);
  }
  return std::move(item_);
}

std::optional<spec::Rung> strongest_rung(const spec::ItemComparison& item) {
  if (!item.structure.empty()) return std::nullopt;
  if (item.different == 0) return spec::Rung::bitwise;
  if (!item.first_ulp) return spec::Rung::ulp;
  if (item.beyond_tolerance == 0) return spec::Rung::tolerance;
  return std::nullopt;
}

}  // namespace sabath::compare
