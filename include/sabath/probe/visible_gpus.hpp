#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// GPUs that the commands of a run see.
struct VisibleGpus {
  /// Names as in CUDA_VISIBLE_DEVICES: UUIDs, also of MIG parts, or CUDA's numbers. Nothing: all.
  std::optional<std::vector<std::string>> names{};
  bool by_bus = false;  ///< CUDA numbers devices by bus, as the driver does
};

}  // namespace sabath::probe
