#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <memory>

namespace sabath::arrays {

/// Opens a file of arrays: of the format that the rule declares, else of the one that its content
/// shows; null for "bytes", and where the content shows none. docs/formats/arrays.md says what each
/// format's arrays are called. Throws Error{not_found|storage}, and Error{integrity} for a file
/// that is damaged or not of the declared format.
std::unique_ptr<base::ArraySource> open_arrays(const std::filesystem::path& path,
                                               const spec::OutputRule& rule = {});

}  // namespace sabath::arrays
