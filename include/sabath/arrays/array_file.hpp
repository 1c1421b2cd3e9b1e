#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>
#include <sabath/base/process/read_limits.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::arrays {

/// Opens a file of arrays: of the format that the rule declares, else of the one that its content
/// shows; null for "bytes", and where the content shows none. docs/formats/arrays.md says what each
/// format's arrays are called. Throws Error{not_found|storage}, and Error{integrity} for a file
/// that is damaged or not of the declared format. HDF5 files, among them NetCDF-4 and the weights
/// of Keras models, are read in a process apart (reader_process.hpp): base::ReaderEnded where that
/// crashes or exceeds a limit, now or later.
std::unique_ptr<base::ArraySource> open_arrays(const std::filesystem::path& path,
                                               const spec::OutputRule& rule = {},
                                               const base::ReadLimits& limits = {});

/// The arrays of such a file whose values its own bytes do not hold, so that equal bytes prove
/// nothing of them: links and data sets that lead out (HDF5, NetCDF-4, Keras), external data
/// (ONNX). Formats that cannot lead out are not read beyond their signature. Nothing for a file
/// that is damaged or not of the declared format. Throws Error{not_found|storage}, and
/// base::ReaderEnded where that cannot be known.
std::vector<base::OutsideValues> outside_values(const std::filesystem::path& path,
                                                const spec::OutputRule& rule = {});

}  // namespace sabath::arrays
