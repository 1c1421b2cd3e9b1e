#include "cgroup.hpp"

#include "fact_file.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/self/cgroup: "0::/user.slice" (v2) or "4:memory,cpu:/job" (v1).
struct Membership {
  std::vector<std::string> controllers{};  ///< empty for v2
  std::string group{};
};

/// A cgroup file system of /proc/self/mountinfo.
struct Mount {
  bool unified = false;                    ///< v2
  std::string group{};                     ///< which group stands at the mount point
  fs::path point{};                        ///< beneath the probe's root
  std::vector<std::string> controllers{};  ///< of v1, among other options
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<Membership> read_memberships(const fs::path& root) {
  std::vector<Membership> memberships;
  for (const auto& line : split(read_fact(root / "proc/self/cgroup").value_or(""), '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    memberships.push_back(
        {split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return memberships;
}

bool is_octal(char digit) {
  return digit >= '0' && digit <= '7';
}

/// mountinfo writes blank, tab, newline and backslash as \040 and so on (proc(5)).
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<Mount> read_mounts(const fs::path& root) {
  std::vector<Mount> mounts;
  for (const auto& line : split(read_fact(root / "proc/self/mountinfo").value_or(""), '\n')) {
    const auto dash = line.find(" - cgroup");
    if (dash == std::string::npos) continue;
    const auto mount = split(line.substr(0, dash), ' ');
    const auto system = split(line.substr(dash + 3), ' ');
    if (mount.size() < 5 || system.empty()) continue;
    mounts.push_back({system.front() == "cgroup2",
                      unescaped(mount[3]),
                      root / fs::path(unescaped(mount[4])).relative_path(),
                      split(system.back(), ',')});
  }
  return mounts;
}

/// The folder of `group` and those of the groups above it, nearest first, as far as this mount
/// shows them. A group outside of what is mounted (a container's view) leaves the mount point.
std::vector<fs::path> folders_of(const Mount& mount, const std::string& group) {
  const fs::path below = fs::path(group).lexically_relative(mount.group);
  std::vector<fs::path> folders;
  if (!below.empty() && *below.begin() != ".." && *below.begin() != ".") {
    fs::path folder = mount.point;
    for (const auto& part : below)
      folders.insert(folders.begin(), folder /= part);
  }
  folders.push_back(mount.point);
  return folders;
}

template <class T>
void lower(std::optional<T>& limit, const std::optional<T>& candidate) {
  if (candidate && (!limit || *candidate < *limit)) limit = candidate;
}

/// cpu.max: "max 100000" or "150000 100000", quota and period in microseconds.
std::optional<double> unified_quota(const fs::path& folder) {
  const auto parts = split(read_fact(folder / "cpu.max").value_or(""), ' ');
  if (parts.size() != 2) return std::nullopt;
  const auto quota = parse_number(parts[0]);
  const auto period = parse_number(parts[1]);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// cpu.cfs_quota_us is -1 where there is no quota, which is not read as a number here.
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

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const auto mounts = read_mounts(root);
  for (const auto& membership : read_memberships(root)) {
    for (const auto& mount : mounts) {
      if (mount.unified != membership.controllers.empty()) continue;
      const auto folders = folders_of(mount, membership.group);
      if (mount.unified) add_unified(folders, limits);
      for (const auto& controller : membership.controllers) {
        if (std::count(mount.controllers.begin(), mount.controllers.end(), controller) > 0) {
          add_legacy(controller, folders, limits);
        }
      }
    }
  }
  return limits;
}

}  // namespace sabath::probe
