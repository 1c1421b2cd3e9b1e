#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::arrays {

/// Opens a file of arrays: of the format that the rule declares, else of the one that its content
/// shows; null for "bytes", and where the content shows none. docs/formats/arrays.md says what each
/// format's arrays are called. Throws Error{not_found|storage}, and Error{integrity} for a file
/// that is damaged or not of the declared format.
std::unique_ptr<base::ArraySource> open_arrays(const std::filesystem::path& path,
                                               const spec::OutputRule& rule = {});

/// The arrays of such a file whose values its own bytes do not hold, so that equal bytes prove
/// nothing of them: links and data sets that lead out (HDF5, NetCDF-4, Keras), external data
/// (ONNX). Formats that cannot lead out are not read beyond their signature. Nothing for a file
/// that is damaged or not of the declared format. Throws Error{not_found|storage}.
std::vector<base::OutsideValues> outside_values(const std::filesystem::path& path,
                                                const spec::OutputRule& rule = {});

}  // namespace sabath::arrays
