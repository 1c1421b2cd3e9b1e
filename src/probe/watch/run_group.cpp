#include "cgroup.hpp"
#include "fact_file.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/run_group.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "sabath-";

/// systemd marks delegated groups (docs/CGROUP_DELEGATION); other groups are its own.
bool is_delegated(const fs::path& group) {
  for (const char* mark : {"user.delegate", "trusted.delegate"}) {
    char value = '0';
    if (::getxattr(group.c_str(), mark, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

/// Returns true where a group may be made in `group` and processes may be moved into it.
bool may_divide(const fs::path& group, const fs::path& root) {
  struct stat status {};
  if (::stat(group.c_str(), &status) != 0) return false;
  if (::access((group / "cgroup.procs").c_str(), W_OK) != 0) return false;
  if (::access(group.c_str(), W_OK | X_OK) != 0 && ::geteuid() != 0) return false;
  if (::geteuid() != 0) return status.st_uid == ::geteuid();
  std::error_code code;
  return !fs::exists(root / "run/systemd/system", code) || is_delegated(group);
}

/// Returns how many controllers count in the groups within `group`.
std::ptrdiff_t controllers_within(const fs::path& group) {
  constexpr std::array<std::string_view, 3> wanted{"memory", "io", "pids"};
  const auto enabled = base::split(read_fact(group / "cgroup.subtree_control").value_or(""), ' ');
  return std::count_if(enabled.begin(), enabled.end(), [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  });
}

/// Returns true where `group` limits its processes more than the groups around it.
bool has_limit(const fs::path& group) {
  constexpr std::array<const char*, 4> limits{"memory.max", "memory.high", "cpu.max", "pids.max"};
  const bool limited = std::any_of(limits.begin(), limits.end(), [&](const char* name) {
    const auto value = read_fact(group / name);
    return value && !value->starts_with("max");
  });
  return limited || !read_fact(group / "cpuset.cpus").value_or("").empty();
}

/// Inner groups first: a group with inner groups cannot be removed.
void remove_groups(const fs::path& group) {
  std::error_code ignored;
  for (const auto& inner : entries_of(group)) {
    if (fs::is_directory(inner, ignored)) remove_groups(inner);
  }
  ::rmdir(group.c_str());
}

/// Kills all members; since Linux 5.14. The stages' processes have ended; others moved here or lost
/// their parents.
void end_all(const fs::path& group) {
  const base::UniqueFd file(::open((group / "cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return;
  [[maybe_unused]] const auto written = ::write(file.get(), "1", 1);
}

/// Removes empty groups of a killed `exec`, whose process id ends the name. A group with processes
/// cannot be removed.
void remove_orphans(const fs::path& parent) {
  for (const auto& group : entries_of(parent)) {
    const auto name = group.filename().string();
    if (!name.starts_with(prefix)) continue;
    const auto owner = parse_number(std::string_view(name).substr(name.rfind('-') + 1));
    if (!owner || *owner == 0 || *owner > INT_MAX) continue;
    if (::kill(static_cast<int>(*owner), 0) == 0 || errno != ESRCH) continue;
    remove_groups(group);
  }
}

}  // namespace

RunGroup::RunGroup(const std::string& name, const fs::path& root) {
  const auto groups = unified_groups(root);
  fs::path parent;
  std::ptrdiff_t most = -1;
  for (std::size_t i = 0; i < groups.size() && i < 2; ++i) {
    // Beside its own group the run would escape that group's limits.
    if (i > 0 && has_limit(groups.front())) break;
    const auto controllers = controllers_within(groups[i]);
    if (controllers <= most || !may_divide(groups[i], root)) continue;
    parent = groups[i];
    most = controllers;
  }
  if (parent.empty()) return;
  remove_orphans(parent);
  const auto path = parent / (std::string(prefix) + name + "-" + std::to_string(::getpid()));
  if (::mkdir(path.c_str(), 0755) == 0) path_ = path;
}

fs::path RunGroup::of_stage(const std::string& name) const {
  if (path_.empty()) return {};
  // The prefix keeps names of stages apart from the kernel's files.
  const fs::path group = path_ / ("stage-" + name);
  const bool is_there = ::mkdir(group.c_str(), 0755) == 0 || errno == EEXIST;
  return is_there ? group : path_;
}

RunGroup::~RunGroup() {
  if (path_.empty()) return;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::error_code code;
  for (remove_groups(path_); fs::exists(path_, code); remove_groups(path_)) {
    if (std::chrono::steady_clock::now() > patience) return;
    end_all(path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace sabath::probe
