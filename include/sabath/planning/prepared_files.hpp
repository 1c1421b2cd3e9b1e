#pragma once

#include <sabath/base/error.hpp>
#include <sabath/planning/recipe_preparer.hpp>

#include <filesystem>

namespace sabath::planning {

/// What was made ready, for another process that plans the runs. Throws Error{storage}.
void write_prepared(const std::filesystem::path& file, const PreparedRecipe& prepared);

/// The same, for `request`. Throws Error{not_found|usage}.
PreparedRecipe read_prepared(const std::filesystem::path& file, const RunRequest& request);

/// Why nothing is ready, beside `file`, which is not written then. What cannot be written is left.
void write_unprepared(const std::filesystem::path& file, const base::Error& error) noexcept;

/// Where that stands.
std::filesystem::path unprepared(const std::filesystem::path& file);

/// The same error again, with `place` before it. Throws Error{usage} for a file that is none.
base::Error read_unprepared(const std::filesystem::path& file, const std::string& place);

}  // namespace sabath::planning
