#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/process/read_limits.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::arrays {

/// Opens a file of arrays, of the format that the rule declares, else of the format that its
/// content shows. Returns null for "bytes", and where the content shows no format.
/// docs/formats/arrays.md describes the names of arrays.
///
/// HDF5 files, including NetCDF-4 and weights of Keras models, are read in a separate process
/// (reader_process.hpp). Throws Error{not_found|storage}, and Error{integrity} for a file that is
/// damaged or not of the declared format. Throws base::ReaderEnded, now or later, where the process
/// crashes or exceeds a limit.
std::unique_ptr<base::ArraySource> open_arrays(const std::filesystem::path& path,
                                               const spec::OutputRule& rule = {},
                                               const base::ReadLimits& limits = {});

/// Lists the arrays of a file whose values are stored outside of it: links and data sets that lead
/// out (HDF5, NetCDF-4, Keras), and external data (ONNX). Equal bytes prove nothing about these.
/// Formats that cannot lead out are read only as far as their signature. Returns nothing for a file
/// that is damaged or not of the declared format. Throws Error{not_found|storage}, and
/// base::ReaderEnded where the answer is unknown.
std::vector<base::OutsideValues> outside_values(const std::filesystem::path& path,
                                                const spec::OutputRule& rule = {});

}  // namespace sabath::arrays
