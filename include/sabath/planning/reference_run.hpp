#pragma once

#include <sabath/spec/recipe.hpp>

#include <filesystem>

namespace sabath::planning {

/// Checks that a run can be the reference of runs of `recipe`: it ended well, it has metrics, and
/// its recipe has the same definition. Throws Error{usage}.
void check_reference(const std::filesystem::path& run, const spec::Recipe& recipe);

/// Puts the record and the series of the run into `folder`, which is made. `exec` needs nothing
/// else of it.
void copy_reference(const std::filesystem::path& run, const std::filesystem::path& folder);

}  // namespace sabath::planning
