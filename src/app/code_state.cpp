#include "code_state.hpp"

#include "git_state.hpp"

#include <sabath/base/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/tree_digest.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_code_bytes = 16U << 20U;
constexpr std::size_t max_code_files = 2000;
constexpr const char* archive_name = "code.tar.gz";
constexpr const char* diff_name = "code.diff";

/// Looks no further than it takes to know that a folder is too large: whoever keeps data or
/// environments beside a recipe must not wait for them.
class Bounds {
 public:
  bool leaves_out(const fs::directory_entry& entry) {
    if (is_exceeded()) return true;
    std::error_code code;
    if (entry.is_symlink(code) || !entry.is_regular_file(code)) return false;
    ++files_;
    bytes_ += entry.file_size(code);
    return false;
  }
  bool is_exceeded() const { return files_ > max_code_files || bytes_ > max_code_bytes; }

 private:
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

void keep_folder(const fs::path& folder, const fs::path& run_directory, spec::CodeState& state) {
  Bounds bounds;
  const auto files =
      base::list_tree(folder, [&](const auto& entry) { return bounds.leaves_out(entry); });
  if (bounds.is_exceeded()) {
    state.not_kept = fmt::format("the recipe's folder has more than {} files or {} MiB",
                                 max_code_files,
                                 max_code_bytes >> 20U);
    return;
  }
  base::write_archive(folder, files, run_directory / archive_name);
  state.tree = base::tree_digest(folder, files);
  state.kept = archive_name;
}

/// A folder with a file that cannot be read or has an odd name can still be run.
void keep_folder_if_possible(const fs::path& folder,
                             const fs::path& run_directory,
                             spec::CodeState& state) {
  try {
    keep_folder(folder, run_directory, state);
  } catch (const base::Error& error) {
    state.not_kept = error.what();
  }
}

}  // namespace

spec::CodeState keep_code(const fs::path& recipe_directory,
                          const fs::path& run_directory,
                          base::ProcessRunner& processes) {
  spec::CodeState state;
  keep_folder_if_possible(recipe_directory, run_directory, state);
  if (!lies_in_repository(recipe_directory)) return state;
  try {
    state.git = look_at_git(recipe_directory, run_directory / diff_name, processes);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::launch) throw;
    state.no_git = error.what();
  }
  return state;
}

}  // namespace sabath::app
