#pragma once

#include "byte_source.hpp"
#include "strided_file.hpp"

#include <string>
#include <vector>

namespace sabath::arrays {

constexpr const char* npy_magic = "\x93NUMPY";

/// The arrays of an NPY file (versions 1 to 3: numpy/lib/format.py) that lies in `bytes`: one
/// called `name`, for a structured type one for each field, "name/field", and for complex numbers
/// "name/r" and "name/i". `source` is what they are to say they lie in. Objects (pickled) are
/// listed as unreadable. Throws Error{integrity} that begins with `place`.
std::vector<StridedArray> read_npy_header(ByteSource& bytes,
                                          const std::string& name,
                                          std::size_t source,
                                          const std::string& place);

}  // namespace sabath::arrays
