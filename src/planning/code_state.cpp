#include "code_state.hpp"

#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/git_state.hpp>
#include <sabath/provenance/named_files.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t max_code_bytes = 4U << 20U;
constexpr std::size_t max_code_files = 2000;
constexpr const char* archive_name = "code.tar.gz";
/// Up to here a folder that is not kept is hashed all the same, so that it is known again.
constexpr std::uint64_t max_known_bytes = 256U << 20U;
constexpr std::size_t max_known_files = 20'000;
constexpr const char* diff_name = "code.diff";
constexpr const char* untracked_name = "code.untracked.tar.gz";

/// Whether the sibling's archive is of this tree, and is `archive` now too.
bool share_archive(const std::optional<OriginalCode>& sibling,
                   const base::Digest& tree,
                   const fs::path& archive) {
  if (!sibling || sibling->state.kept.empty() || sibling->state.tree != tree) return false;
  std::error_code code;
  fs::create_hard_link(sibling->run_directory / archive_name, archive, code);
  return !code;
}

void keep_folder(const RunRequest& request, const fs::path& archive, spec::CodeState& state) {
  const fs::path& place = request.recipe.directory;
  const provenance::CodeFolder folder(place, {max_code_files, max_code_bytes});
  if (folder.is_exceeded()) {
    throw Error(ErrorKind::usage,
                fmt::format("the recipe's folder has more than {} files or {} MiB",
                            max_code_files,
                            max_code_bytes >> 20U));
  }
  if (!folder.uncounted().empty()) {
    throw Error(ErrorKind::usage,
                base::printable(folder.uncounted()) +
                    ": a link to more outside of the recipe's folder than counts by its bytes");
  }
  const base::Digest tree = folder.digest();
  if (!share_archive(request.sibling, tree, archive)) {
    base::write_archive(place, folder.files(), archive);
    if (folder.digest() != tree)
      throw Error(ErrorKind::usage, "the recipe's folder was changed at that moment");
  }
  state.tree = tree;
  state.kept = archive_name;
}

/// By which a repetition tells whether it has the same code.
void note_tree(const fs::path& place, const fs::path& state_directory, spec::CodeState& state) {
  state.tree = {};
  try {
    const provenance::CodeFolder folder(place, {max_known_files, max_known_bytes});
    if (!folder.is_exceeded()) state.tree = folder.digest(state_directory);
  } catch (const Error&) {
    return;  // what cannot be read is said already
  }
}

/// A folder that cannot be kept (a file that cannot be read, an odd name) can still be run.
void keep_folder_if_possible(const RunRequest& request,
                             const fs::path& run_directory,
                             const fs::path& state_directory,
                             spec::CodeState& state) {
  const fs::path archive = run_directory / archive_name;
  try {
    keep_folder(request, archive, state);
  } catch (const Error& error) {
    state.not_kept = error.what();
    std::error_code ignored;
    fs::remove(archive, ignored);
  }
  if (state.kept.empty()) note_tree(request.recipe.directory, state_directory, state);
}

/// A repetition is of the commit that the original was of, wherever its code was unpacked; runs
/// that are handed in together are of one.
void take_over(const OriginalCode& original,
               const fs::path& run_directory,
               spec::CodeState& state) {
  state.git = original.state.git;
  state.no_git = original.state.no_git;
  state.untracked = original.state.untracked;
  state.no_untracked = original.state.no_untracked;
  if (!state.git) return;
  const auto take = [&](const char* name) {
    std::error_code code;
    fs::copy_file(original.run_directory / name, run_directory / name, code);
    return code ? "that of the original run cannot be read: " + code.message() : std::string();
  };
  if (!state.git->diff.empty()) {
    state.git->no_diff = take(diff_name);
    if (!state.git->no_diff.empty()) state.git->diff.clear();
  }
  if (state.untracked) {
    if (const std::string problem = take(untracked_name); !problem.empty()) {
      state.untracked.reset();
      state.no_untracked = problem;
    }
  }
}

/// Where only the commit stands for the code, what git does not know is kept beside it.
void keep_rest(const RunRequest& request,
               const fs::path& run_directory,
               base::ProcessRunner& processes,
               const std::stop_token& stop,
               spec::CodeState& state) {
  const fs::path archive = run_directory / untracked_name;
  try {
    if (provenance::keep_untracked(request.recipe.directory, *state.git, archive, processes, stop))
      state.untracked = untracked_name;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    std::error_code ignored;
    fs::remove(archive, ignored);
    state.no_untracked = error.what();
  }
}

}  // namespace

spec::CodeState keep_code(const RunRequest& request,
                          const fs::path& run_directory,
                          const fs::path& state_directory,
                          base::ProcessRunner& processes,
                          const std::stop_token& stop) {
  spec::CodeState state;
  keep_folder_if_possible(request, run_directory, state_directory, state);
  if (request.original) {
    take_over(*request.original, run_directory, state);
    return state;
  }
  if (request.sibling && !state.kept.empty() && state.tree == request.sibling->state.tree) {
    take_over(*request.sibling, run_directory, state);
    return state;
  }
  const fs::path& folder = request.recipe.directory;
  if (!provenance::repository_around(folder)) return state;
  try {
    state.git = provenance::look_at_git(folder, run_directory / diff_name, processes, stop);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::launch) throw;
    state.no_git = error.what();
  }
  const bool stands_on_git = state.kept.empty() || provenance::names_surroundings(request.recipe);
  if (state.git && !state.git->commit.empty() && stands_on_git)
    keep_rest(request, run_directory, processes, stop, state);
  return state;
}

}  // namespace sabath::planning
