#pragma once

#include "gpu/gpu_watch.hpp"
#include "process_tree.hpp"

#include <sabath/spec/run_usage.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// One look at all that a run uses.
struct UsageSample {
  double t_s = 0;
  ProcessUse use{};
  std::optional<std::uint64_t> memory_bytes{};  ///< of a control group, with its page cache
  std::vector<GpuWatch::Look> gpus{};
  std::vector<spec::EnergyReading> energy{};  ///< since the first look
};

/// A JSON line, as docs/formats/record.md describes it.
std::string sample_line(const UsageSample& sample);

}  // namespace sabath::probe
