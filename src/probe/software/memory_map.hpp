#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// A line of /proc/PID/maps (proc(5)) that maps a file to execute it.
struct ExecutableMapping {
  std::uint64_t inode = 0;
  std::string_view path{};  ///< in the text; without the mark of a file that is gone
  bool is_gone = false;     ///< nothing has this name any more
};

/// Devices, shared memory and what has no file are left out.
std::vector<ExecutableMapping> executable_mappings(std::string_view maps);

}  // namespace sabath::probe
