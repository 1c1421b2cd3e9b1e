#pragma once

#include <sabath/app/run_recipe.hpp>

#include <filesystem>

namespace sabath::app {

/// What was made ready, for another process that plans the runs. Throws Error{storage}.
void write_prepared(const std::filesystem::path& file, const PreparedRecipe& prepared);

/// The same, for `request`. Throws Error{not_found|usage}.
PreparedRecipe read_prepared(const std::filesystem::path& file, const RunRequest& request);

}  // namespace sabath::app
