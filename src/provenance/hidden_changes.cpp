#include "hidden_changes.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Paths, each with a zero byte after it.
struct Hidden {
  std::string assumed{};
  std::string skipped{};
};

/// The innermost submodule that a path lies in; the top: empty.
std::string home_of(std::string_view path, const std::map<std::string, std::string>& submodules) {
  for (auto end = path.rfind('/'); end != std::string_view::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    const std::string folder(path.substr(0, end));
    if (submodules.contains(folder)) return folder;
  }
  return {};
}

/// By submodule what is hidden there, out of `git ls-files -v`: a letter, a blank, the path. A
/// small letter: assumed unchanged; "S": not wanted in the work tree.
std::map<std::string, Hidden> hidden_in(std::string_view text,
                                        const fs::path& top,
                                        const std::map<std::string, std::string>& submodules) {
  std::map<std::string, Hidden> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.size() < 3 || entry[0] == 'H') continue;
    const std::string_view path = entry.substr(2);
    const bool is_assumed = std::islower(static_cast<unsigned char>(entry[0])) != 0;
    std::error_code code;
    // A sparse checkout leaves files out, and that changes none.
    const bool is_skipped = (entry[0] == 'S' || entry[0] == 's') &&
                            fs::exists(fs::symlink_status(top / fs::path(path), code));
    if (!is_assumed && !is_skipped) continue;
    const std::string home = home_of(path, submodules);
    const std::string own(path.substr(home.empty() ? 0 : home.size() + 1));
    if (is_assumed) found[home].assumed += own + '\0';
    if (is_skipped) found[home].skipped += own + '\0';
  }
  return found;
}

void unmark(GitTree& tree, const char* mark, const std::string& paths) {
  if (paths.empty()) return;
  // A split index would be written beside the repository's.
  const base::ProcessResult result = tree.run(
      {"-c", "core.splitIndex=false", "update-index", mark, "-z", "--stdin"}, {}, 0, paths);
  if (!result.ok())
    throw Error(ErrorKind::launch, "git update-index: " + result.describe() + result.errors);
}

}  // namespace

HiddenChanges::HiddenChanges(GitTree& top,
                             const fs::path& folder,
                             const std::map<std::string, std::string>& submodules,
                             base::ProcessRunner& processes,
                             const std::stop_token& stop)
    : copies_(folder, ".index-") {
  const std::string files = submodules.empty()
                                ? top.must({"ls-files", "-v", "-z"})
                                : top.must({"ls-files", "-v", "-z", "--recurse-submodules"});
  for (const auto& [path, hidden] : hidden_in(files, top.folder(), submodules)) {
    GitTree tree(top.folder() / path, processes, stop);
    tree.switch_off_filters();
    std::string own = tree.must({"rev-parse", "--git-path", "index"});
    own.resize(std::min(own.find('\n'), own.size()));
    const fs::path copy = copies_.path() / std::to_string(indexes_.size());
    std::error_code code;
    fs::copy_file(tree.folder() / own, copy, code);
    // git compares the bytes of files that were written in the second of their index, and no
    // others.
    if (!code) fs::last_write_time(copy, fs::last_write_time(tree.folder() / own, code), code);
    if (code) throw Error(ErrorKind::launch, own + ": " + code.message());
    indexes_.emplace(path, copy);
    show(tree, path);
    unmark(tree, "--no-assume-unchanged", hidden.assumed);
    unmark(tree, "--no-skip-worktree", hidden.skipped);
  }
}

bool HiddenChanges::show(GitTree& tree, const std::string& path) const {
  const auto index = indexes_.find(path);
  if (index == indexes_.end()) return false;
  tree.set("GIT_INDEX_FILE", index->second.string());
  return true;
}

}  // namespace sabath::provenance
