#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// A line of /proc/self/mountinfo (proc(5)).
struct Mount {
  std::string root{};             ///< what of the file system stands at `point`
  std::filesystem::path point{};  ///< absolute, as this process sees it
  std::string type{};
  std::string source{};
  std::vector<std::string> options{};        ///< of this mount
  std::vector<std::string> super_options{};  ///< of the file system
};

/// In the order in which they were mounted: the last of those at one point is what is seen there.
std::vector<Mount> read_mount_table(const std::filesystem::path& root);

/// The parts between separators that are not empty.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace sabath::probe
