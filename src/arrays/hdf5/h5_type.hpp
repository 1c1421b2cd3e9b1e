#pragma once

#include "h5_id.hpp"

#include <sabath/base/array_source.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sabath::arrays {

/// One array that an HDF5 type makes: the type itself, or one member of a compound.
struct Leaf {
  std::string suffix{};                ///< "/member" inside a compound, else empty
  std::vector<std::uint64_t> inner{};  ///< dimensions of array types, outermost first
  base::ArrayType type = base::ArrayType::opaque;
  H5Id memory{};         ///< what to read an element with: packed, and nothing but this leaf
  H5Id value{};          ///< one value of it in memory
  std::string unsaid{};  ///< of its type, what `type` does not say: the names of an enumeration

  std::uint64_t values_per_element() const;
};

/// The arrays that elements of `file_type` make. Numbers come in native byte order with the bits
/// that the file has; enumerations and bit fields as their integers; formats that no native type
/// holds exactly (long double, 128-bit integers), references and variable-length sequences as
/// `opaque`. `place` begins the message of an Error{integrity}.
std::vector<Leaf> leaves_of(hid_t file_type, const std::string& place);

}  // namespace sabath::arrays
