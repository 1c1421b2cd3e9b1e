#pragma once

#include <sabath/base/trust.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/execution/run_hooks.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// Job of a batch that executes a run, or a step of it.
struct BatchPart {
  std::filesystem::path folder{};
  spec::BatchPlan plan{};
  std::size_t step = 1;
};

/// Settings of the node where a plan is executed.
struct NodeSettings {
  cache::CacheOptions cache{};
  bool packed = false;                 ///< use images of environments
  std::filesystem::path local{};       ///< where images are unpacked
  std::filesystem::path program{};     ///< this sabath
  std::vector<std::string> secrets{};  ///< that the stages' logs must not show
  /// As in the configuration.
  std::uint64_t largest_output = spec::CacheSettings{}.largest_output;
  std::uint64_t largest_log = spec::RunSettings{}.largest_log;
  probe::ProbeSources sources{};     ///< of facts of the host
  std::optional<BatchPart> batch{};  ///< nothing: not started by a scheduler
  /// Part of the node that the run has, where the plan does not know it.
  std::optional<spec::ResourceSlots> slots{};
  HookSettings hooks{};
  base::Trust trust{};  ///< owners whose environments are used
};

}  // namespace sabath::execution
