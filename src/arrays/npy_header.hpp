#pragma once

#include "byte_source.hpp"
#include "name_budget.hpp"
#include "strided_file.hpp"

#include <string>
#include <vector>

namespace sabath::arrays {

constexpr const char* npy_magic = "\x93NUMPY";

/// The arrays of an NPY file (versions 1 to 3: numpy/lib/format.py) that lies in `bytes`: one
/// called `name`, for a structured type one for each field, "name/field", and for complex numbers
/// "name/r" and "name/i". numpy.save() to an open file adds another array behind those that are
/// there: the second is "name 2". What follows and is no array is "name (rest)", by its digest; so
/// are arrays beyond the 100,000th. Objects (pickled) are listed as unreadable, and nothing behind
/// them is. `source` is what the arrays are to say they lie in. Throws Error{integrity} that begins
/// with `place`.
std::vector<StridedArray> read_npy(ByteSource& bytes,
                                   const std::string& name,
                                   std::size_t source,
                                   const std::string& place,
                                   NameBudget& names);

}  // namespace sabath::arrays
