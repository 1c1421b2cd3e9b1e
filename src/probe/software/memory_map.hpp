#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// A line of /proc/PID/maps (proc(5)) that maps a file to execute it.
struct ExecutableMapping {
  std::uint64_t inode = 0;
  std::string_view path{};  ///< view of the text, without the mark of a deleted file
  bool is_gone = false;     ///< the file was deleted
};

/// Reads the executable mappings. Leaves out devices, shared memory and mappings without a file.
std::vector<ExecutableMapping> executable_mappings(std::string_view maps);

}  // namespace sabath::probe
