#include "cgroup.hpp"

#include "fact_file.hpp"
#include "mount_table.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/probe/memory_kills.hpp>

#include <algorithm>
#include <string_view>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/self/cgroup: "0::/user.slice" (v2) or "4:memory,cpu:/job" (v1).
struct Membership {
  std::vector<std::string> controllers{};  ///< empty for v2
  std::string group{};
};

constexpr std::string_view unified_type = "cgroup2";
constexpr std::string_view legacy_type = "cgroup";

std::vector<Membership> read_memberships(const fs::path& root) {
  std::vector<Membership> memberships;
  for (const auto& line : base::split(read_fact(root / "proc/self/cgroup").value_or(""), '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    memberships.push_back(
        {base::split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return memberships;
}

/// Returns the visible folders of `group` and of the groups above it, nearest first. For a group
/// outside of the mount (in a container) only the mount point.
std::vector<fs::path> folders_of(const Mount& mount,
                                 const fs::path& point,
                                 const std::string& group) {
  const fs::path below = fs::path(group).lexically_relative(mount.root);
  std::vector<fs::path> folders;
  if (!below.empty() && *below.begin() != ".." && *below.begin() != ".") {
    fs::path folder = point;
    for (const auto& part : below)
      folders.insert(folders.begin(), folder /= part);
  }
  folders.push_back(point);
  return folders;
}

template <class T>
void lower(std::optional<T>& limit, const std::optional<T>& candidate) {
  if (candidate && (!limit || *candidate < *limit)) limit = candidate;
}

/// cpu.max: "max 100000" or "150000 100000", quota and period in microseconds.
std::optional<double> unified_quota(const fs::path& folder) {
  const auto parts = base::split(read_fact(folder / "cpu.max").value_or(""), ' ');
  if (parts.size() != 2) return std::nullopt;
  const auto quota = parse_number(parts[0]);
  const auto period = parse_number(parts[1]);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// cpu.cfs_quota_us is -1 without a quota, which is not read as a number here.
std::optional<double> legacy_quota(const fs::path& folder) {
  const auto quota = read_number(folder / "cpu.cfs_quota_us");
  const auto period = read_number(folder / "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void add_cpu_list(const std::vector<fs::path>& folders, const char* file, CgroupLimits& limits) {
  for (const auto& folder : folders) {
    const auto list = read_fact(folder / file);
    if (!list || list->empty()) continue;
    limits.cpu_lists.push_back(*list);
    return;  // the nearest one is within all above it
  }
}

void add_unified(const std::vector<fs::path>& folders, CgroupLimits& limits) {
  for (const auto& folder : folders) {
    lower(limits.cpus, unified_quota(folder));
    lower(limits.memory_bytes, read_number(folder / "memory.max"));
  }
  add_cpu_list(folders, "cpuset.cpus.effective", limits);
}

void add_legacy(const std::string& controller,
                const std::vector<fs::path>& folders,
                CgroupLimits& limits) {
  if (controller == "cpuset") add_cpu_list(folders, "cpuset.effective_cpus", limits);
  for (const auto& folder : folders) {
    if (controller == "cpu") lower(limits.cpus, legacy_quota(folder));
    if (controller == "memory") {
      lower(limits.memory_bytes, read_number(folder / "memory.limit_in_bytes"));
    }
  }
}

/// Groups of this process in one hierarchy: its own and those above, nearest first.
struct Standing {
  std::string controller{};  ///< empty for version 2
  std::vector<fs::path> folders{};
};

std::vector<Standing> standings(const fs::path& root) {
  std::vector<Standing> result;
  const auto mounts = read_mount_table(root);
  for (const auto& membership : read_memberships(root)) {
    for (const auto& mount : mounts) {
      const bool unified = mount.type == unified_type;
      if (!unified && mount.type != legacy_type) continue;
      if (unified != membership.controllers.empty()) continue;
      const auto folders = folders_of(mount, root / mount.point.relative_path(), membership.group);
      if (unified) result.push_back({"", folders});
      for (const auto& controller : membership.controllers) {
        if (std::ranges::find(mount.super_options, controller) != mount.super_options.end())
          result.push_back({controller, folders});
      }
    }
  }
  return result;
}

/// Reads a line "oom_kill 2" of a file.
std::uint64_t oom_kills(const fs::path& file) {
  constexpr std::string_view key = "oom_kill ";
  for (const auto& line : base::split(read_fact(file).value_or(""), '\n')) {
    if (line.starts_with(key))
      return parse_number(std::string_view(line).substr(key.size())).value_or(0);
  }
  return 0;
}

/// Reads a line "name value" of a flat keyed file.
std::optional<std::uint64_t> keyed(const std::string& text, std::string_view key) {
  for (const auto& line : base::split(text, '\n')) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return parse_number(std::string_view(line).substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

void add_members(const fs::path& group, std::vector<int>& members) {
  for (const auto& line : base::split(read_fact(group / "cgroup.procs").value_or(""), '\n')) {
    if (const auto pid = parse_number(line); pid && *pid > 0) {
      members.push_back(static_cast<int>(*pid));
    }
  }
  std::error_code ignored;
  for (const auto& inner : entries_of(group)) {
    if (fs::is_directory(inner, ignored)) add_members(inner, members);
  }
}

/// Returns true for devices on top of others (device mapper, RAID): their traffic is counted below
/// again.
bool stands_on_others(const fs::path& sys, const std::string& numbers) {
  std::error_code code;
  const auto slaves = sys / "dev/block" / numbers / "slaves";
  return fs::exists(slaves, code) && !fs::is_empty(slaves, code);
}

/// "8:0 rbytes=4096 wbytes=0 rios=1 ...", a line for each device
bool read_io(const fs::path& group, const fs::path& sys, ProcessUse& use) {
  const auto text = read_fact(group / "io.stat");
  if (!text) return false;
  for (const auto& line : base::split(*text, '\n')) {
    const auto words = base::split(line, ' ');
    if (words.empty() || stands_on_others(sys, words.front())) continue;
    for (const std::string_view word : words) {
      if (word.starts_with("rbytes=")) use.read_bytes += parse_number(word.substr(7)).value_or(0);
      if (word.starts_with("wbytes=")) use.write_bytes += parse_number(word.substr(7)).value_or(0);
    }
  }
  return true;
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  for (const auto& [controller, folders] : standings(root)) {
    if (controller.empty()) {
      add_unified(folders, limits);
    } else {
      add_legacy(controller, folders, limits);
    }
  }
  return limits;
}

std::vector<fs::path> unified_groups(const fs::path& root) {
  for (const auto& [controller, folders] : standings(root)) {
    if (controller.empty()) return folders;
  }
  return {};
}

std::uint64_t memory_kills(const fs::path& group, const fs::path& root) {
  std::uint64_t kills = group.empty() ? 0 : oom_kills(group / "memory.events");
  for (const auto& [controller, folders] : standings(root)) {
    if (controller.empty()) kills += oom_kills(folders.front() / "memory.events");
    if (controller == "memory") kills += oom_kills(folders.front() / "memory.oom_control");
  }
  return kills;
}

std::optional<GroupUse> look_at_group(const fs::path& group,
                                      const fs::path& proc,
                                      const fs::path& sys) {
  const auto cpu = keyed(read_fact(group / "cpu.stat").value_or(""), "usage_usec");
  if (!cpu) return std::nullopt;
  GroupUse result;
  std::vector<int> members;
  add_members(group, members);
  ProcessUse& use = result.use;
  result.counts_io = read_io(group, sys, use);
  const auto memory = read_fact(group / "memory.stat");
  const auto threads = read_number(group / "pids.current");
  for (const int pid : members) {
    if (!memory || !threads) add_process(pid, proc, use);
    if (!result.counts_io) add_io(pid, proc, use);
  }
  use.cpu_s = static_cast<double>(*cpu) * 1e-6;
  use.processes = static_cast<int>(members.size());
  if (threads) use.threads = static_cast<int>(*threads);
  if (memory) {
    use.rss_bytes = keyed(*memory, "anon").value_or(0) + keyed(*memory, "file_mapped").value_or(0);
  }
  result.memory_bytes = read_number(group / "memory.current");
  return result;
}

}  // namespace sabath::probe
