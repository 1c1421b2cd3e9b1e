#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/process/read_limits.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::arrays {

using Source = std::unique_ptr<base::ArraySource>;

// Each function throws Error{not_found|storage}, and Error{integrity} for a file that is damaged or
// of another format; so does reading beyond the limits. docs/formats/arrays.md describes the names
// of arrays.

/// https://github.com/huggingface/safetensors: the header may have 100 MB; tensors lie one behind
/// the other without gaps.
Source open_safetensors(const std::filesystem::path& path, const base::ReadLimits& limits = {});
/// The classic formats of NetCDF (CDF-1, -2 and -5).
Source open_netcdf_classic(const std::filesystem::path& path, const base::ReadLimits& limits = {});
/// A table with one array a column, of numbers (float64) where all its cells are.
Source open_csv(const std::filesystem::path& path, const base::ReadLimits& limits = {});
/// The initialisers of a model, and the digest of the rest of its graph. Values in other files are
/// read where these are in the model's folder.
Source open_onnx(const std::filesystem::path& path, const base::ReadLimits& limits = {});
std::vector<base::OutsideValues> outside_values_of_onnx(const std::filesystem::path& path);
/// The weights and the configuration of a model that Keras 3 saved.
Source open_keras(const std::filesystem::path& path, const base::ReadLimits& limits = {});
std::vector<base::OutsideValues> outside_values_of_keras(const std::filesystem::path& path);

}  // namespace sabath::arrays
