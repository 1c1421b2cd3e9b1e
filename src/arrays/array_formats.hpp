#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>
#include <sabath/base/process/read_limits.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::arrays {

// Each throws Error{not_found|storage}, and Error{integrity} for a file that is damaged or no such
// file, as reading does beyond the limits. docs/formats/arrays.md says what the arrays are called.

/// NPY, versions 1 to 3 (numpy/lib/format.py).
std::unique_ptr<base::ArraySource> open_npy(const std::filesystem::path& path,
                                            const base::ReadLimits& limits = {});
std::unique_ptr<base::ArraySource> open_npz(const std::filesystem::path& path,
                                            const base::ReadLimits& limits = {});
/// https://github.com/huggingface/safetensors: the header may have 100 MB; tensors lie one behind
/// the other without gaps.
std::unique_ptr<base::ArraySource> open_safetensors(const std::filesystem::path& path,
                                                    const base::ReadLimits& limits = {});
/// The classic formats of NetCDF (CDF-1, -2 and -5).
std::unique_ptr<base::ArraySource> open_netcdf_classic(const std::filesystem::path& path,
                                                       const base::ReadLimits& limits = {});
/// A table with one array a column, of numbers (float64) where all its cells are.
std::unique_ptr<base::ArraySource> open_csv(const std::filesystem::path& path,
                                            const base::ReadLimits& limits = {});
std::unique_ptr<base::ArraySource> open_raw(const std::filesystem::path& path,
                                            const spec::RawLayout& layout,
                                            const base::ReadLimits& limits = {});
/// The initialisers of a model, and the digest of all else in its graph. Values in other files are
/// read where these lie in the model's folder.
std::unique_ptr<base::ArraySource> open_onnx(const std::filesystem::path& path,
                                             const base::ReadLimits& limits = {});
std::vector<base::OutsideValues> outside_values_of_onnx(const std::filesystem::path& path);
/// The weights and the configuration of a model that Keras 3 saved.
std::unique_ptr<base::ArraySource> open_keras(const std::filesystem::path& path,
                                              const base::ReadLimits& limits = {});
std::vector<base::OutsideValues> outside_values_of_keras(const std::filesystem::path& path);

}  // namespace sabath::arrays
