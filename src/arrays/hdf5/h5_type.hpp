#pragma once

#include "h5_id.hpp"

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sabath::arrays {

/// One array of an HDF5 type: the type itself, or one member of a compound.
struct Leaf {
  std::string suffix{};                ///< "/member" inside a compound, else empty
  std::vector<std::uint64_t> inner{};  ///< dimensions of array types, outermost first
  base::ArrayType type = base::ArrayType::opaque;
  H5Id memory{};         ///< type for reading: packed, this leaf alone
  H5Id value{};          ///< type of one value in memory
  std::string unsaid{};  ///< what `type` does not show: names of an enumeration

  std::uint64_t values_per_element() const;
};

/// Lists the arrays in elements of `file_type`. Numbers keep their bits in native byte order;
/// enumerations and bit fields become their integers. `opaque` are references, variable-length
/// sequences, and formats that no native type holds exactly (long double, 128-bit integers).
/// `place` begins the message of an Error{integrity}.
std::vector<Leaf> leaves_of(hid_t file_type, const std::string& place);

/// Value in memory as text: strings without padding, sequences and compounds by their parts, all
/// others as hexadecimal bytes. References are the name of their target, as their bytes are
/// addresses, which differ between equal files.
std::string text_of(hid_t type, const std::byte* value, hid_t file);

}  // namespace sabath::arrays
