#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::probe {

/// A line of /proc/self/mountinfo (proc(5)).
struct Mount {
  std::string root{};             ///< the part of the file system at `point`
  std::filesystem::path point{};  ///< absolute, as this process sees it
  std::string type{};
  std::string source{};
  std::vector<std::string> options{};        ///< of this mount
  std::vector<std::string> super_options{};  ///< of the file system
};

/// Returns the mounts in their order: the last one at a point is visible there.
std::vector<Mount> read_mount_table(const std::filesystem::path& root);

}  // namespace sabath::probe
