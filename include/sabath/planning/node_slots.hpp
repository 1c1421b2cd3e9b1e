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

/// Resources of this machine that runs can get.
struct NodeCapacity {
  std::vector<std::vector<int>> cores{};  ///< as probe::usable_cores
  std::vector<std::string> gpus{};        ///< as CUDA_VISIBLE_DEVICES names them
  std::uint64_t memory_bytes = 0;         ///< 0: not known
};

/// The caller's CUDA_VISIBLE_DEVICES limits the GPUs.
NodeCapacity look_at_node(base::ProcessRunner& processes);

/// 0: not known.
std::uint64_t usable_memory(base::ProcessRunner& processes);

/// Returns a warning for a stage that needs more memory than `usable_bytes`, if that is known: it
/// runs alone and the kernel may end it. Returns an empty text where it fits.
std::string memory_problem(const std::string& stage,
                           const spec::Resources& resources,
                           std::uint64_t usable_bytes);

/// Returns the same for a stage that wants more cores or GPUs than are usable here.
std::string count_problem(const std::string& stage,
                          int wanted,
                          std::size_t usable,
                          std::string_view what);

/// Returns how many GPUs commands may use here, those of AMD included.
std::size_t gpu_count(base::ProcessRunner& processes);

/// Returns GPUs as CUDA_VISIBLE_DEVICES names them; those of the caller's variable, if it is set.
std::vector<std::string> visible_gpus(const std::vector<spec::GpuFacts>& gpus);

/// Returns the GPUs that commands of these stages see, by their own variables or by those of this
/// process.
probe::VisibleGpus gpus_of(const std::vector<spec::PlannedStage>& stages);

/// Resources that one run of a recipe asks for; zero where no stage says.
struct RunNeeds {
  int cores = 0;
  int gpus = 0;
  std::uint64_t memory_bytes = 0;

  bool operator==(const RunNeeds&) const = default;
};
/// A run must be able to execute each of its stages, so each need is that of the most demanding
/// stage. `cpus` are those of one task.
RunNeeds needs_of(const spec::Recipe& recipe);
RunNeeds needs_of(const spec::Resources& resources);

/// Division of a machine among runs.
struct Division {
  std::size_t jobs = 1;
  int cores = 0;  ///< of each run; 0: not bound
  int gpus = 0;   ///< of each run; 0: all see all

  bool operator==(const Division&) const = default;
};
/// For `jobs` runs at a time; 0: as many as fit. One run at a time has the whole machine and is not
/// bound. Divides cores evenly where the recipe does not say how many a run needs. Throws
/// Error{usage} where the runs do not fit, or nothing says how many would.
Division divide(const NodeCapacity& capacity, const RunNeeds& needs, int jobs);

/// Returns a part of the machine with `cpus` CPUs (hardware threads) and GPUs; 0 CPUs: not bound.
/// Takes whole cores where that comes out even, else the first CPUs. Returns nothing where there
/// are fewer.
std::optional<spec::ResourceSlots> part_of(const NodeCapacity& capacity, int cpus, int gpus);

/// Assigns disjoint parts of a machine.
class NodeSlots {
 public:
  NodeSlots(NodeCapacity capacity, Division division);

  /// Returns nothing while too little is free.
  std::optional<spec::ResourceSlots> take() { return take(division_.cores, division_.gpus); }
  /// Takes `cores` cores and `gpus` GPUs, whatever the division.
  std::optional<spec::ResourceSlots> take(int cores, int gpus);
  /// Marks resources that a present run has.
  void occupy(const spec::ResourceSlots& slots) { mark(slots, true); }
  void give_back(const spec::ResourceSlots& slots) { mark(slots, false); }

 private:
  void mark(const spec::ResourceSlots& slots, bool taken);

  NodeCapacity capacity_;
  Division division_;
  std::vector<bool> core_taken_;
  std::vector<bool> gpu_taken_;
};

}  // namespace sabath::planning
