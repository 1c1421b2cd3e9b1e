#include "git_worktree.hpp"

#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/provenance/git_state.hpp>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <string>
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
    std::string folder(path.substr(0, end));
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
  for_each_part(text, '\0', [&](std::string_view entry) {
    if (entry.size() < 3 || entry[0] == 'H') return;
    const std::string_view path = entry.substr(2);
    const bool is_assumed = std::islower(static_cast<unsigned char>(entry[0])) != 0;
    std::error_code code;
    // A sparse checkout leaves files out, and that changes none.
    const bool is_skipped = (entry[0] == 'S' || entry[0] == 's') &&
                            fs::exists(fs::symlink_status(top / fs::path(path), code));
    if (!is_assumed && !is_skipped) return;
    const std::string home = home_of(path, submodules);
    const std::string own(path.substr(home.empty() ? 0 : home.size() + 1));
    if (is_assumed) found[home].assumed += own + '\0';
    if (is_skipped) found[home].skipped += own + '\0';
  });
  return found;
}

void unmark(GitWorktree& tree, const char* mark, const std::string& paths) {
  if (paths.empty()) return;
  // A split index would be written beside the repository's.
  const base::ProcessResult result = tree.run(
      {"-c", "core.splitIndex=false", "update-index", mark, "-z", "--stdin"}, {}, 0, paths);
  if (!result.ok())
    throw Error(ErrorKind::launch, "git update-index: " + result.describe() + result.errors);
}

/// Files that git is configured not to look at (git-update-index(1): --assume-unchanged, and
/// --skip-worktree of files that are there all the same), of a repository and its submodules. They
/// are looked at by copies of the indexes, without these marks: the repository's own stay as they
/// are.
class HiddenChanges {
 public:
  /// `top`: whose folder is the top of the work tree. `folder`: where the copies are put as long as
  /// this lives. `submodules`: their paths, and what they are at. Throws as GitWorktree.
  HiddenChanges(GitWorktree& top,
                const fs::path& folder,
                const std::map<std::string, std::string>& submodules)
      : copies_(folder, ".index-") {
    const std::string files = submodules.empty()
                                  ? top.must({"ls-files", "-v", "-z"})
                                  : top.must({"ls-files", "-v", "-z", "--recurse-submodules"});
    for (const auto& [path, hidden] : hidden_in(files, top.folder(), submodules)) {
      GitWorktree tree = top.submodule(path);
      const std::string own = tree.first_line({"rev-parse", "--git-path", "index"});
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

  /// From now on `tree` looks at all files of the submodule `path` (the top: empty), whose work
  /// tree it is. False where none is hidden there.
  bool show(GitWorktree& tree, const std::string& path) const {
    const auto index = indexes_.find(path);
    if (index == indexes_.end()) return false;
    tree.set("GIT_INDEX_FILE", index->second.string());
    return true;
  }

 private:
  base::TempDir copies_;
  std::map<std::string, std::filesystem::path> indexes_{};  ///< by submodule
};

constexpr std::uint64_t max_diff_bytes = 64U << 20U;
constexpr std::uint64_t max_untracked_bytes = 4U << 20U;
constexpr std::size_t max_untracked_files = 2000;

/// What follows the `count`-th blank.
std::string_view after_blanks(std::string_view text, int count) {
  for (; count > 0; --count) {
    const auto at = text.find(' ');
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + 1);
  }
  return text;
}

void note_dirty(spec::GitState& state, char kind, std::string_view path) {
  ++state.dirty_files;
  if (state.dirty.size() < spec::GitState::max_dirty)
    state.dirty.push_back(std::string(1, kind) + " " + std::string(path));
}

/// One entry of `git status --porcelain=v2 -z` (git-status(1), "Porcelain Format Version 2"). True
/// where the next entry is the path that this one had before.
bool read_entry(spec::GitState& state, std::string_view entry) {
  constexpr std::string_view commit = "# branch.oid ";
  constexpr std::string_view branch = "# branch.head ";
  if (entry.starts_with(commit)) {
    state.commit = entry.substr(commit.size());
    if (state.commit == "(initial)") state.commit.clear();
  } else if (entry.starts_with(branch)) {
    state.branch = entry.substr(branch.size());
    if (state.branch == "(detached)") state.branch.clear();
  } else if (entry.starts_with("? ")) {
    note_dirty(state, '?', entry.substr(2));
  } else if (entry.starts_with("u ")) {
    note_dirty(state, 'U', after_blanks(entry, 10));
  } else if (entry.size() > 4 && (entry.starts_with("1 ") || entry.starts_with("2 "))) {
    // Against the commit: what was renamed or added there and edited since is still that.
    const char kind = entry[2] == '.' || entry[3] == 'D' ? entry[3] : entry[2];
    note_dirty(state, kind, after_blanks(entry, entry[0] == '1' ? 8 : 9));
    return entry[0] == '2';
  }
  return false;
}

void read_status(spec::GitState& state, std::string_view text) {
  bool is_old_path = false;
  for_each_part(text, '\0', [&](std::string_view entry) {
    is_old_path = !is_old_path && read_entry(state, entry);
  });
}

/// "remote.origin.url\nhttps://..." with a zero byte after each; and the same of filters.
void read_settings(spec::GitState& state, GitWorktree& tree, std::string_view text) {
  constexpr std::string_view head = "remote.";
  constexpr std::string_view tail = ".url";
  for_each_part(text, '\0', [&](std::string_view item) {
    const auto line = std::min(item.find('\n'), item.size());
    const std::string_view key = item.substr(0, line);
    const std::string_view value = item.substr(std::min(line + 1, item.size()));
    if (key.starts_with("filter.")) {
      tree.switch_off_filter(key);
    } else if (key.size() > head.size() + tail.size()) {
      const auto name = key.substr(head.size(), key.size() - head.size() - tail.size());
      state.remotes[std::string(name)] = base::redact(value);
    }
  });
}

/// Lines of `git submodule status`: a mark, the commit, a blank, the path, and " (name)" at times.
void read_submodules(spec::GitState& state, std::string_view text) {
  for_each_part(text, '\n', [&](std::string_view line) {
    if (line.size() < 3 || line.front() == '-') return;  // one that is not checked out
    line.remove_prefix(1);
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return;
    std::string_view path = line.substr(blank + 1);
    if (path.ends_with(')')) path = path.substr(0, path.rfind(" ("));
    state.submodules[std::string(path)] = line.substr(0, blank);
  });
}

/// What differs from the commit, in the form that `git apply` takes whatever the user's settings
/// say; its paths begin with `place`, which is empty or ends with a slash.
base::ProcessResult diff_of(GitWorktree& tree, const std::string& place, const fs::path& file) {
  return tree.run({"diff",
                   "--binary",
                   "--no-color",
                   "--no-ext-diff",
                   "--no-textconv",
                   "--no-relative",
                   "--ignore-submodules=all",
                   "--src-prefix=a/" + place,
                   "--dst-prefix=b/" + place,
                   "HEAD"},
                  file,
                  max_diff_bytes);
}

/// Their commits are known already: what was changed in them stands in the diff as files of the
/// whole.
void add_submodules(const spec::GitState& state,
                    const HiddenChanges& hidden,
                    const GitWorktree& top,
                    const fs::path& file) {
  for (const auto& [path, commit] : state.submodules) {
    GitWorktree submodule = top.submodule(path);
    hidden.show(submodule, path);
    const base::TempDir own(file.parent_path(), ".diff-");
    const fs::path part = own.path() / "part";
    const base::ProcessResult result = diff_of(submodule, path + "/", part);
    if (!result.ok())
      throw Error(ErrorKind::launch, "git diff in " + path + ": " + result.describe());
    const std::string text = base::read_file(part);
    if (text.empty()) continue;
    std::ofstream whole(file, std::ios::binary | std::ios::app);
    if (!(whole << text).flush())
      throw Error(ErrorKind::storage, file.string() + ": cannot be written");
  }
}

/// What the status of the whole cannot tell: a submodule of a submodule by its own settings, and
/// files that are hidden in one.
void note_submodules(spec::GitState& state, const HiddenChanges& hidden, const GitWorktree& top) {
  for (const auto& [path, commit] : state.submodules) {
    GitWorktree submodule = top.submodule(path);
    const bool is_nested = std::ranges::any_of(state.submodules, [&path = path](const auto& outer) {
      return path.starts_with(outer.first + "/");
    });
    if (!hidden.show(submodule, path) && !is_nested) continue;
    const std::string changes = submodule.must(
        {"status", "--porcelain=v2", "--untracked-files=no", "--ignore-submodules=all", "-z"});
    const std::string entry = "M " + path;
    if (!changes.empty() && std::ranges::find(state.dirty, entry) == state.dirty.end())
      note_dirty(state, 'M', path);
  }
}

void keep_diff(spec::GitState& state,
               GitWorktree& tree,
               const HiddenChanges& hidden,
               const fs::path& file) {
  const bool has_tracked_change = std::ranges::any_of(
      state.dirty, [](const std::string& one) { return !one.starts_with('?'); });
  if (state.commit.empty() || !has_tracked_change) return;
  std::error_code ignored;
  try {
    base::write_file_atomically(file, "", base::Durability::ordered_only, 0600);
    const base::ProcessResult result = diff_of(tree, "", file);
    if (!result.ok()) throw Error(ErrorKind::launch, "git diff " + result.describe());
    if (result.output_bytes > max_diff_bytes)
      throw Error(ErrorKind::launch,
                  "git diff is larger than " + base::format_bytes(max_diff_bytes));
    add_submodules(state, hidden, tree, file);
    state.diff = file.filename().string();
    return;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    state.no_diff = error.what();
  }
  fs::remove(file, ignored);
}

/// Files that git neither knows nor ignores, in the repository and its submodules.
std::vector<base::TreeFile> untracked_files(GitWorktree& tree, const spec::GitState& git) {
  std::vector<base::TreeFile> files;
  std::uint64_t bytes = 0;
  const auto take = [&](GitWorktree& part, const std::string& place) {
    const std::string text = part.must({"ls-files", "--others", "--exclude-standard", "-z"});
    for_each_part(text, '\0', [&](std::string_view name) {
      base::TreeFile file{place + std::string(name), false, {}, 0};
      const fs::path path = tree.folder() / file.path;
      std::error_code code;
      const fs::file_status status = fs::symlink_status(path, code);
      if (fs::is_symlink(status)) {
        file.link_target = fs::read_symlink(path).string();
      } else if (fs::is_regular_file(status)) {
        file.executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
        file.size_bytes = fs::file_size(path, code);
      } else {
        return;  // a repository within, a pipe
      }
      bytes += file.size_bytes;
      files.push_back(std::move(file));
    });
  };
  take(tree, "");
  for (const auto& [path, commit] : git.submodules) {
    GitWorktree submodule = tree.submodule(path);
    take(submodule, path + "/");
  }
  if (files.size() > max_untracked_files || bytes > max_untracked_bytes) {
    throw Error(ErrorKind::usage,
                "the files that git does not know are more than " +
                    std::to_string(max_untracked_files) + " or " +
                    std::to_string(max_untracked_bytes >> 20U) + " MiB");
  }
  std::ranges::sort(files, {}, &base::TreeFile::path);
  return files;
}

}  // namespace

std::optional<fs::path> repository_around(const fs::path& folder) {
  std::error_code code;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", code)) return at;
    if (at == at.root_path()) break;
  }
  return std::nullopt;
}

spec::GitState look_at_git(const fs::path& folder,
                           const fs::path& diff_file,
                           base::ProcessRunner& processes,
                           const std::stop_token& stop) {
  GitWorktree tree(folder, processes, stop);
  spec::GitState state;
  // In one go what otherwise takes two processes: the folder's place and the top.
  const std::string places = tree.must({"rev-parse", "--show-prefix", "--show-toplevel"});
  const auto line = places.find('\n');
  state.path = places.substr(0, line);
  if (state.path.ends_with('/')) state.path.pop_back();
  const std::string rest = places.substr(line == std::string::npos ? 0 : line + 1);
  tree.move_to(rest.substr(0, rest.find('\n')));
  // Status 1 says that there is none.
  const base::ProcessResult settings =
      tree.run({"config",
                "-z",
                "--get-regexp",
                "^(remote\\..*\\.url|filter\\..*\\.(clean|process|required))$"});
  if (settings.ok()) read_settings(state, tree, settings.output);
  std::error_code code;
  if (fs::exists(tree.folder() / ".gitmodules", code)) {
    // Fails as a whole where one of them is not described.
    const base::ProcessResult submodules = tree.run({"submodule", "status", "--recursive"});
    if (submodules.ok()) read_submodules(state, submodules.output);
  }
  const HiddenChanges hidden(tree, diff_file.parent_path(), state.submodules);
  hidden.show(tree, "");
  read_status(state,
              tree.must({"status",
                         "--porcelain=v2",
                         "--branch",
                         "--untracked-files=normal",
                         "--ignore-submodules=none",
                         "-z"}));
  note_submodules(state, hidden, tree);
  keep_diff(state, tree, hidden, diff_file);
  return state;
}

bool keep_untracked(const fs::path& folder,
                    const spec::GitState& git,
                    const fs::path& archive,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop) {
  GitWorktree tree(folder, processes, stop);
  tree.move_to(tree.first_line({"rev-parse", "--show-toplevel"}));
  const std::vector<base::TreeFile> files = untracked_files(tree, git);
  if (files.empty()) return false;
  base::write_archive(tree.folder(), files, archive);
  return true;
}

std::optional<std::set<std::string>> files_of_commit(const fs::path& folder,
                                                     const std::string& commit,
                                                     base::ProcessRunner& processes,
                                                     const std::stop_token& stop) {
  std::error_code code;
  if (commit.empty() || !fs::is_directory(folder, code)) return std::nullopt;
  try {
    GitWorktree tree(folder, processes, stop);
    const auto listed = tree.run({"ls-tree", "-r", "-z", "--name-only", commit, "--", "."});
    if (!listed.ok()) return std::nullopt;
    std::set<std::string> files;
    for_each_part(
        listed.output, '\0', [&](std::string_view path) { files.insert(std::string(path)); });
    return files;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return std::nullopt;
  }
}

}  // namespace sabath::provenance
