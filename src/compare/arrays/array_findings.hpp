#pragma once

#include "finding.hpp"

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sabath::compare {

/// Index of the element at position `flat` of the storage.
std::vector<std::uint64_t> index_of(std::uint64_t flat, const base::ArrayInfo& array);

/// "[3, 14, 2]", or "its value" for a scalar.
std::string index_text(const std::vector<std::uint64_t>& index);

/// How type or shape differ, in words; empty where they are equal.
std::string structural_difference(const base::ArrayInfo& a, const base::ArrayInfo& b);

/// A finding without compared values: `missing` of them are on one side only.
Finding structural(std::string structure, std::uint64_t missing);

/// Text for UnreadableArrays::add. Not for attributes: the _FillValue of NetCDF is usually NaN.
constexpr const char* only_nan = "is NaN in every value";

/// Arrays of an output that cannot be judged; the first three are named.
class UnreadableArrays {
 public:
  void add(const std::string& name, const std::string& why);
  /// Returns the texts for `output`, which may be empty.
  std::vector<std::string> take(const std::string& output);

 private:
  std::size_t count_ = 0;
  std::vector<std::string> texts_{};
};

/// Walks two lists of arrays that are sorted by path and kind. Calls `single` with an array that
/// only one side has and with "only in A" or "only in B", and `both` with two of one name.
template <class Array, class Single, class Both>
void pair_by_name(const std::vector<Array>& a,
                  const std::vector<Array>& b,
                  const Single& single,
                  const Both& both) {
  const auto is_before = [](const Array& one, const Array& other) {
    const int order = one.path.compare(other.path);
    return order < 0 || (order == 0 && one.is_attribute < other.is_attribute);
  };
  auto at_a = a.begin();
  auto at_b = b.begin();
  while (at_a != a.end() || at_b != b.end()) {
    if (at_b == b.end() || (at_a != a.end() && is_before(*at_a, *at_b))) {
      single(*at_a++, "only in A");
    } else if (at_a == a.end() || is_before(*at_b, *at_a)) {
      single(*at_b++, "only in B");
    } else {
      both(*at_a++, *at_b++);
    }
  }
}

}  // namespace sabath::compare
