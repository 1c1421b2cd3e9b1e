#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// The job of a batch that executes a run, or a step of it.
struct BatchPart {
  std::filesystem::path folder{};
  spec::BatchPlan plan{};
  std::size_t step = 1;
};

/// What is settled on the node where a plan is executed.
struct NodeSettings {
  cache::CacheOptions cache{};
  bool packed = false;                 ///< use the images of environments where there are some
  std::filesystem::path local{};       ///< where they are unpacked
  std::filesystem::path program{};     ///< this sabath
  std::vector<std::string> secrets{};  ///< what the stages' logs must not show
  /// As in the configuration.
  std::uint64_t largest_output = spec::CacheSettings{}.largest_output;
  std::uint64_t largest_log = spec::RunSettings{}.largest_log;
  probe::ProbeSources sources{};     ///< where facts of the host come from
  std::optional<BatchPart> batch{};  ///< nothing: no scheduler has started this
  /// The part of the node that the run has, where the plan does not know it.
  std::optional<spec::Place> place{};
  base::Trust trust{};  ///< whose environments are used
};

/// What `sabath exec RUN_DIR` does, everywhere the same: runs the stages of the plan, records, and
/// ends with record.json and status.json. Needs the run directory and the cache, nothing else. A
/// failed command is a record, not an exception; throws only when not even that could be written
/// (Error{storage}), or when the run is finished or goes on already (Error{usage}).
///
/// As a job of a batch: executes the stages of its step, and ends the run with the last, or with
/// one that fails; of a run that has its record already it returns that. What a signal interrupts
/// there may go on when the same job comes back: then the record is the attempt's (close_run.hpp).
spec::RunRecord execute_plan(const std::filesystem::path& run_directory,
                             base::ProcessRunner& processes,
                             base::Clock& clock,
                             base::Observer& observer,
                             std::stop_token stop,
                             const NodeSettings& node = {});

}  // namespace sabath::execution
