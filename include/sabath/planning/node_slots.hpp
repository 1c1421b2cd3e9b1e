#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::planning {

/// What of this machine can be given to runs.
struct NodeCapacity {
  std::vector<std::vector<int>> cores{};  ///< as probe::usable_cores
  std::vector<std::string> gpus{};        ///< as CUDA_VISIBLE_DEVICES names them
  std::uint64_t memory_bytes = 0;         ///< 0: not known
};

/// A caller's CUDA_VISIBLE_DEVICES limits what is given away.
NodeCapacity look_at_node(base::ProcessRunner& processes);

/// 0: not known.
std::uint64_t usable_memory(base::ProcessRunner& processes);

/// What to tell of a stage that wants more memory than `usable_bytes`, if that is known: it runs
/// alone and may be ended by the kernel. Empty where it fits.
std::string memory_problem(const std::string& stage,
                           const spec::Resources& resources,
                           std::uint64_t usable_bytes);

/// GPUs as CUDA_VISIBLE_DEVICES names them; of the caller's where it has that variable.
std::vector<std::string> visible_gpus(const std::vector<spec::GpuFacts>& gpus);

/// What commands of these stages see, by their own variables or by those of this process.
probe::VisibleGpus gpus_of(const std::vector<spec::PlannedStage>& stages);

/// What one run of a recipe asks for; zero where no stage says.
struct RunNeeds {
  int cores = 0;
  int gpus = 0;
  std::uint64_t memory_bytes = 0;

  bool operator==(const RunNeeds&) const = default;
};
/// A run must be able to execute each of its stages, so each need is that of the stage that wants
/// most. `cpus` are those of one task.
RunNeeds needs_of(const spec::Recipe& recipe);
RunNeeds needs_of(const spec::Resources& resources);

/// How a machine is divided among runs.
struct Division {
  std::size_t jobs = 1;
  int cores = 0;  ///< of each run; 0: not bound
  int gpus = 0;   ///< of each run; 0: all see all

  bool operator==(const Division&) const = default;
};
/// For `jobs` runs at a time, 0: as many as fit. One run at a time has the whole machine and is not
/// bound. Where the recipe does not say how many cores a run wants they are divided evenly. Throws
/// Error{usage} when the runs do not fit, or nothing says how many would.
Division divide(const NodeCapacity& capacity, const RunNeeds& needs, int jobs);

/// A part of the machine with so many CPUs (hardware threads) and GPUs; 0 CPUs: not bound. Whole
/// cores where that comes out even, else the first CPUs. Nothing where there are fewer.
std::optional<spec::Place> part_of(const NodeCapacity& capacity, int cpus, int gpus);

/// Gives out disjoint parts of a machine.
class NodeSlots {
 public:
  NodeSlots(NodeCapacity capacity, Division division);

  /// Nothing while too little is free.
  std::optional<spec::Place> take() { return take(division_.cores, division_.gpus); }
  /// So many cores and GPUs, whatever the division.
  std::optional<spec::Place> take(int cores, int gpus);
  /// What a run that is there already has.
  void occupy(const spec::Place& place) { mark(place, true); }
  void give_back(const spec::Place& place) { mark(place, false); }

 private:
  void mark(const spec::Place& place, bool taken);

  NodeCapacity capacity_;
  Division division_;
  std::vector<bool> core_taken_;
  std::vector<bool> gpu_taken_;
};

}  // namespace sabath::planning
