#include "git_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/redact.hpp>

#include <algorithm>
#include <chrono>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t max_diff_bytes = 64U << 20U;
constexpr std::size_t max_status_bytes = 64U << 20U;
/// A file system that takes longer holds up every run.
constexpr auto patience = std::chrono::seconds(10);

/// git in one folder. It must write nothing there and start nothing that a repository names.
class WorkTree {
 public:
  WorkTree(fs::path folder, base::ProcessRunner& processes, const std::stop_token& stop)
      : folder_(std::move(folder)),
        processes_(processes),
        stop_(stop),
        variables_(base::current_environment()) {
    // A caller within a hook of git would make it look at another repository.
    std::erase_if(variables_, [](const auto& item) { return item.first.starts_with("GIT_"); });
    variables_["LC_ALL"] = "C";
    variables_["GIT_TERMINAL_PROMPT"] = "0";
    variables_["GIT_OPTIONAL_LOCKS"] = "0";
    variables_["GIT_NO_LAZY_FETCH"] = "1";
  }

  base::ProcessResult run(std::vector<std::string> arguments, const fs::path& output = {}) {
    base::Command command;
    command.argv = {"git",
                    "-c",
                    "core.fsmonitor=false",
                    "-c",
                    "core.hooksPath=/dev/null",
                    "-c",
                    "diff.autoRefreshIndex=false"};
    command.argv.insert(command.argv.end(), without_filters_.begin(), without_filters_.end());
    command.argv.insert(command.argv.end(), {"-C", folder_.string()});
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = variables_;
    command.deadline = patience;
    command.capture_limit = max_status_bytes;
    command.stdout_path = output;
    if (!output.empty()) command.output_limit = max_diff_bytes;
    base::ProcessResult result = processes_.run(command, stop_);
    if (result.end == base::ProcessEnd::stopped) throw Error(ErrorKind::interrupted, "interrupted");
    return result;
  }

  /// From now on: the programs of a filter ("lfs") that the settings name are not started.
  void switch_off_filter(std::string_view key) {
    const std::string value = key.ends_with(".required") ? "=false" : "=";
    without_filters_.insert(without_filters_.end(), {"-c", std::string(key) + value});
  }
  void move_to(fs::path folder) { folder_ = std::move(folder); }

  std::string must(std::vector<std::string> arguments) {
    const std::string name = arguments.front();
    const base::ProcessResult result = run(std::move(arguments));
    if (result.ok()) return result.output;
    const std::string said = result.errors.substr(0, result.errors.find('\n'));
    throw Error(ErrorKind::launch,
                "git " + name + ": " + (said.empty() ? result.describe() : said));
  }

 private:
  fs::path folder_;
  base::ProcessRunner& processes_;
  const std::stop_token& stop_;
  base::Environment variables_;
  std::vector<std::string> without_filters_{};
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

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
    const char kind = entry[3] == '.' ? entry[2] : entry[3];
    note_dirty(state, kind, after_blanks(entry, entry[0] == '1' ? 8 : 9));
    return entry[0] == '2';
  }
  return false;
}

void read_status(spec::GitState& state, std::string_view text) {
  bool is_old_path = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    const std::string_view entry = text.substr(0, end);
    is_old_path = !is_old_path && read_entry(state, entry);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// "remote.origin.url\nhttps://..." with a zero byte after each; and the same of filters.
void read_settings(spec::GitState& state, WorkTree& tree, std::string_view text) {
  constexpr std::string_view head = "remote.";
  constexpr std::string_view tail = ".url";
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto line = std::min(item.find('\n'), item.size());
    const std::string_view key = item.substr(0, line);
    const std::string_view value = item.substr(std::min(line + 1, item.size()));
    if (key.starts_with("filter.")) {
      tree.switch_off_filter(key);
    } else if (key.size() > head.size() + tail.size()) {
      const auto name = key.substr(head.size(), key.size() - head.size() - tail.size());
      state.remotes[std::string(name)] = base::redact(value);
    }
  }
}

/// Lines of `git submodule status`: a mark, the commit, a blank, the path, and " (name)" at times.
void read_submodules(spec::GitState& state, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() < 3) continue;
    line.remove_prefix(1);
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    std::string_view path = line.substr(blank + 1);
    if (path.ends_with(')')) path = path.substr(0, path.rfind(" ("));
    state.submodules[std::string(path)] = line.substr(0, blank);
  }
}

bool has_tracked_change(const spec::GitState& state) {
  return std::any_of(state.dirty.begin(), state.dirty.end(), [](const std::string& one) {
    return !one.starts_with('?');
  });
}

void keep_diff(spec::GitState& state, WorkTree& tree, const fs::path& file) {
  if (state.commit.empty() || !has_tracked_change(state)) return;
  base::write_file_atomically(file, "", base::Durability::ordered_only, 0600);
  // In the form that `git apply` takes, whatever the user's settings say.
  const base::ProcessResult result = tree.run({"diff",
                                               "--binary",
                                               "--no-color",
                                               "--no-ext-diff",
                                               "--no-textconv",
                                               "--no-relative",
                                               "--submodule=short",
                                               "--src-prefix=a/",
                                               "--dst-prefix=b/",
                                               "HEAD"},
                                              file);
  if (result.ok()) {
    state.diff = file.filename().string();
    return;
  }
  std::error_code ignored;
  fs::remove(file, ignored);
  state.no_diff = "git diff " + result.describe();
}

}  // namespace

bool lies_in_repository(const fs::path& folder) {
  std::error_code code;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", code)) return true;
    if (at == at.root_path()) break;
  }
  return false;
}

spec::GitState look_at_git(const fs::path& folder,
                           const fs::path& diff_file,
                           base::ProcessRunner& processes,
                           const std::stop_token& stop) {
  WorkTree tree(folder, processes, stop);
  spec::GitState state;
  // In one go what otherwise takes two processes: the folder's place and the top.
  const std::string places = tree.must({"rev-parse", "--show-prefix", "--show-toplevel"});
  const auto line = places.find('\n');
  state.path = places.substr(0, line);
  if (state.path.ends_with('/')) state.path.pop_back();
  const fs::path top = first_line(places.substr(line == std::string::npos ? 0 : line + 1));
  tree.move_to(top);
  // Status 1 says that there is none.
  const base::ProcessResult settings =
      tree.run({"config",
                "-z",
                "--get-regexp",
                "^(remote\\..*\\.url|filter\\..*\\.(clean|process|required))$"});
  if (settings.ok()) read_settings(state, tree, settings.output);
  read_status(
      state, tree.must({"status", "--porcelain=v2", "--branch", "--untracked-files=normal", "-z"}));
  std::error_code code;
  if (fs::exists(top / ".gitmodules", code)) {
    // Fails as a whole where one of them is not described.
    const base::ProcessResult submodules = tree.run({"submodule", "status"});
    if (submodules.ok()) read_submodules(state, submodules.output);
  }
  keep_diff(state, tree, diff_file);
  return state;
}

}  // namespace sabath::app
