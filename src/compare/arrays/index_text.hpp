#pragma once

#include <sabath/base/array_source.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sabath::compare {

/// The index of the element that comes as number `flat`.
inline std::vector<std::uint64_t> index_of(std::uint64_t flat, const base::ArrayInfo& array) {
  std::vector<std::uint64_t> index(array.shape.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::size_t axis = array.column_major ? i : index.size() - 1 - i;
    index[axis] = flat % array.shape[axis];
    flat /= array.shape[axis];
  }
  return index;
}

/// "[3, 14, 2]"
inline std::string index_text(const std::vector<std::uint64_t>& index) {
  return index.empty() ? "its value" : fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace sabath::compare
