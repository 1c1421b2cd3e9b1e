#include "git_worktree.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/provenance/git_checkout.hpp>

#include <chrono>
#include <cstdint>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;

/// Of a large repository on a slow file system.
constexpr auto patience = std::chrono::minutes(10);

/// An index of its own: neither the repository's nor its work tree is touched.
void write_commit(const fs::path& repository,
                  const std::string& commit,
                  const fs::path& to,
                  base::ProcessRunner& processes,
                  const std::stop_token& stop) {
  const base::TempDir own(to.parent_path(), ".index-");
  GitWorktree tree(repository, processes, stop, patience);
  tree.switch_off_filters();
  tree.set("GIT_INDEX_FILE", (own.path() / "index").string());
  tree.must({"read-tree", commit});
  tree.must({"checkout-index", "--all", "--force", "--prefix=" + to.string() + "/"});
}

void apply_diff(const fs::path& diff,
                const fs::path& to,
                base::ProcessRunner& processes,
                const std::stop_token& stop) {
  std::error_code code;
  const std::uintmax_t size_bytes = fs::file_size(diff, code);
  if (code) base::throw_errno(diff.string(), "cannot be read", code.value());
  if (size_bytes == 0) return;  // of a submodule that only stands at another commit
  GitWorktree tree(to, processes, stop, patience);
  // A patch of files, whatever repository the home may lie in.
  tree.set("GIT_CEILING_DIRECTORIES", to.parent_path().string());
  tree.must({"apply", "--whitespace=nowarn", diff.string()});
}

void lay_over(const fs::path& archive, const fs::path& to, base::Observer& observer) {
  const base::TempDir own(to.parent_path(), ".untracked-");
  base::extract_archive(archive, own.path(), {}, observer);
  std::error_code code;
  fs::copy(own.path(),
           to,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks |
               fs::copy_options::overwrite_existing,
           code);
  if (code) base::throw_errno(to.string(), "cannot be written to", code.value());
}

}  // namespace

void check_out(const fs::path& folder,
               const KeptWork& work,
               const fs::path& to,
               base::ProcessRunner& processes,
               base::Observer& observer,
               const std::stop_token& stop) {
  const spec::GitState& git = *work.code.git;
  GitWorktree tree(folder, processes, stop);
  const std::string top = tree.first_line({"rev-parse", "--show-toplevel"});
  write_commit(top, git.commit, to, processes, stop);
  for (const auto& [path, commit] : git.submodules) {
    base::make_directories(to / path);
    write_commit(fs::path(top) / path, commit, to / path, processes, stop);
  }
  if (!git.diff.empty())
    apply_diff(work.run_directory / fs::path(git.diff).filename(), to, processes, stop);
  if (work.code.untracked)
    lay_over(work.run_directory / fs::path(*work.code.untracked).filename(), to, observer);
}

}  // namespace sabath::provenance
