#pragma once

#include "h5_id.hpp"

#include <cstddef>
#include <string>

namespace sabath::arrays {

/// One value in memory as text: strings without their padding; references by the name of what they
/// point to (their bytes are addresses, which differ between files of one content); sequences and
/// compounds by their parts; all else as the hexadecimal digits of its bytes.
std::string text_of(hid_t type, const std::byte* value, hid_t file);

}  // namespace sabath::arrays
