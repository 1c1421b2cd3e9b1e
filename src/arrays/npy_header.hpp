#pragma once

#include "byte_source.hpp"
#include "name_budget.hpp"
#include "strided_file.hpp"

#include <string>
#include <vector>

namespace sabath::arrays {

constexpr const char* npy_magic = "\x93NUMPY";

/// Lists the arrays of an NPY file (versions 1 to 3: numpy/lib/format.py) in `bytes`. An array is
/// called `name`. A structured type gives one for each field, "name/field"; complex numbers give
/// "name/r" and "name/i". numpy.save() to an open file appends arrays: the second is "name 2". What
/// follows and is not an array is "name (rest)", by its digest, like arrays beyond the 100,000th.
/// Objects (pickled) are unreadable, and nothing behind them is listed. `source` is the index of
/// the byte source. Throws Error{integrity} that begins with `place`.
std::vector<StridedArray> read_npy(ByteSource& bytes,
                                   const std::string& name,
                                   std::size_t source,
                                   const std::string& place,
                                   NameBudget& names);

}  // namespace sabath::arrays
