#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/probe/host_probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sabath::planning {
namespace {

using base::Error;

/// As CUDA reads CUDA_VISIBLE_DEVICES: up to the first entry that is not a device ("-1").
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string item = text.substr(from, to - from);
    const bool is_index =
        !item.empty() && item.find_first_not_of("0123456789") == std::string::npos;
    if (!is_index && !item.starts_with("GPU-") && !item.starts_with("MIG-")) break;
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
    from = to + 1;
  }
  return items;
}

std::size_t fitting(std::size_t available, int each) {
  return each <= 0 ? available : available / static_cast<std::size_t>(each);
}

/// Returns " of 2 core(s), 1 GPU(s) each"; empty where a run states no needs.
std::string wants(const RunNeeds& needs) {
  std::vector<std::string> parts;
  if (needs.cores > 0) parts.push_back(std::to_string(needs.cores) + " core(s)");
  if (needs.gpus > 0) parts.push_back(std::to_string(needs.gpus) + " GPU(s)");
  if (needs.memory_bytes > 0) parts.push_back(base::format_bytes(needs.memory_bytes));
  return parts.empty() ? "" : fmt::format(" of {} each", fmt::join(parts, ", "));
}

/// Returns `count` free ones of `taken`; nothing where there are fewer.
std::optional<std::vector<std::size_t>> first_free(const std::vector<bool>& taken, int count) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < taken.size() && free.size() < static_cast<std::size_t>(count); ++i) {
    if (!taken[i]) free.push_back(i);
  }
  if (free.size() < static_cast<std::size_t>(count)) return std::nullopt;
  return free;
}

/// By CUDA_VISIBLE_DEVICES: without GPUs of AMD, and with the parts of a divided GPU.
bool can_be_given(const spec::GpuFacts& gpu, const std::vector<spec::GpuFacts>& all) {
  if (gpu.vendor.value_or("nvidia") != "nvidia") return false;
  if (!gpu.mig || gpu.uuid.starts_with("MIG-")) return true;
  return std::ranges::none_of(all, [&](const spec::GpuFacts& other) {
    return other.uuid.starts_with("MIG-") && other.pci_bus == gpu.pci_bus;
  });
}

/// One probe only: all facts of a host would take a second without a cached answer.
spec::HostFacts facts_of(std::string_view name, base::ProcessRunner& processes) {
  spec::HostFacts facts;
  for (const probe::Probe& probe : probe::builtin_probes()) {
    if (probe.name == name) probe.look({}, processes, facts);
  }
  return facts;
}

}  // namespace

NodeCapacity look_at_node(base::ProcessRunner& processes) {
  return {probe::usable_cores(),
          visible_gpus(facts_of("gpu", processes).gpus),
          usable_memory(processes)};
}

std::uint64_t usable_memory(base::ProcessRunner& processes) {
  return facts_of("allowance", processes).memory.effective_bytes;
}

std::string memory_problem(const std::string& stage,
                           const spec::Resources& resources,
                           std::uint64_t usable_bytes) {
  if (usable_bytes == 0 || resources.memory_bytes <= usable_bytes) return {};
  return "stage " + stage + ": wants " + base::format_bytes(resources.memory_bytes) +
         " of memory, and " + base::format_bytes(usable_bytes) + " may be used here";
}

std::string count_problem(const std::string& stage,
                          int wanted,
                          std::size_t usable,
                          std::string_view what) {
  if (std::cmp_less_equal(wanted, usable)) return {};
  return fmt::format("stage {}: wants {} {}, and {} may be used here", stage, wanted, what, usable);
}

std::size_t gpu_count(base::ProcessRunner& processes) {
  const std::vector<spec::GpuFacts> gpus = facts_of("gpu", processes).gpus;
  const auto of_amd = std::ranges::count_if(
      gpus, [](const auto& gpu) { return gpu.vendor.value_or("nvidia") != "nvidia"; });
  return visible_gpus(gpus).size() + static_cast<std::size_t>(of_amd);
}

std::vector<std::string> visible_gpus(const std::vector<spec::GpuFacts>& gpus) {
  const auto environment = base::current_environment();
  const auto visible = environment.find("CUDA_VISIBLE_DEVICES");
  if (visible != environment.end()) return listed(visible->second);
  std::vector<std::string> uuids;
  for (const spec::GpuFacts& gpu : gpus) {
    if (can_be_given(gpu, gpus)) uuids.push_back(gpu.uuid);
  }
  return uuids;
}

probe::VisibleGpus gpus_of(const std::vector<spec::PlannedStage>& stages) {
  const auto own = base::current_environment();
  const auto value_of = [&](const spec::PlannedStage& stage, const std::string& name) {
    const auto known = [&](const auto& variables) { return variables.contains(name); };
    return known(stage.environment) ? std::optional(stage.environment.at(name))
           : known(own)             ? std::optional(own.at(name))
                                    : std::nullopt;
  };
  probe::VisibleGpus visible{std::vector<std::string>(), true};
  for (const spec::PlannedStage& stage : stages) {
    if (stage.not_due) continue;
    visible.by_bus = visible.by_bus && value_of(stage, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
    auto text = value_of(stage, "CUDA_VISIBLE_DEVICES");
    for (const char* of_amd : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}) {
      if (!text) text = value_of(stage, of_amd);
    }
    if (!text) return {};
    for (const std::string& name : listed(*text)) {
      if (std::ranges::find(*visible.names, name) == visible.names->end())
        visible.names->push_back(name);
    }
  }
  return visible;
}

RunNeeds needs_of(const spec::Resources& resources) {
  return {resources.cpus * std::max(resources.tasks.value_or(1), 1),
          resources.gpus.value_or(0),
          resources.memory_bytes};
}

RunNeeds needs_of(const spec::Recipe& recipe) {
  RunNeeds needs;
  for (const spec::Stage& stage : recipe.stages) {
    const RunNeeds wanted = needs_of(stage.resources);
    needs.cores = std::max(needs.cores, wanted.cores);
    needs.gpus = std::max(needs.gpus, wanted.gpus);
    needs.memory_bytes = std::max(needs.memory_bytes, wanted.memory_bytes);
  }
  return needs;
}

Division divide(const NodeCapacity& capacity, const RunNeeds& needs, int jobs) {
  if (jobs == 1) return {};
  if (jobs == 0 && needs.cores == 0) {
    throw Error(base::ErrorKind::usage,
                "--jobs all: no stage of the recipe declares how many cpus it needs",
                "give a number, such as --jobs 4, or declare \"resources\" of the stages");
  }
  std::size_t most = fitting(capacity.cores.size(), needs.cores);
  if (needs.gpus > 0) most = std::min(most, fitting(capacity.gpus.size(), needs.gpus));
  if (needs.memory_bytes > 0 && capacity.memory_bytes > 0) {
    most = std::min<std::uint64_t>(most, capacity.memory_bytes / needs.memory_bytes);
  }
  const std::size_t wanted =
      jobs == 0 ? std::max<std::size_t>(most, 1) : static_cast<std::size_t>(jobs);
  if (wanted == 1) return {};
  if (wanted > most) {
    throw Error(base::ErrorKind::usage,
                "--jobs " + std::to_string(jobs) + ": so many runs" + wants(needs) +
                    " do not fit: " + std::to_string(capacity.cores.size()) + " core(s), " +
                    std::to_string(capacity.gpus.size()) + " GPU(s) and " +
                    base::format_bytes(capacity.memory_bytes) + " may be used here",
                "at most " + std::to_string(std::max<std::size_t>(most, 1)) + " do");
  }
  const int even = static_cast<int>(capacity.cores.size() / wanted);
  return {wanted, needs.cores > 0 ? needs.cores : even, needs.gpus};
}

std::optional<spec::ResourceSlots> part_of(const NodeCapacity& capacity, int cpus, int gpus) {
  const auto wanted = static_cast<std::size_t>(cpus);
  for (std::size_t cores = cpus == 0 ? 0 : 1; cores <= capacity.cores.size(); ++cores) {
    auto slots = NodeSlots(capacity, {}).take(static_cast<int>(cores), gpus);
    if (slots && slots->cpus.size() == wanted) return slots;
  }
  auto slots = NodeSlots(capacity, {}).take(static_cast<int>(capacity.cores.size()), gpus);
  if (!slots || slots->cpus.size() < wanted) return std::nullopt;
  slots->cpus.resize(wanted);
  return slots;
}

NodeSlots::NodeSlots(NodeCapacity capacity, Division division)
    : capacity_(std::move(capacity)),
      division_(division),
      core_taken_(capacity_.cores.size()),
      gpu_taken_(capacity_.gpus.size()) {}

std::optional<spec::ResourceSlots> NodeSlots::take(int cores, int gpus) {
  const auto free_cores = first_free(core_taken_, cores);
  const auto free_gpus = first_free(gpu_taken_, gpus);
  if (!free_cores || !free_gpus) return std::nullopt;
  spec::ResourceSlots slots;
  for (const std::size_t core : *free_cores) {
    const std::vector<int>& threads = capacity_.cores[core];
    slots.cpus.insert(slots.cpus.end(), threads.begin(), threads.end());
  }
  for (const std::size_t gpu : *free_gpus)
    slots.gpus.push_back(capacity_.gpus[gpu]);
  occupy(slots);
  return slots;
}

void NodeSlots::mark(const spec::ResourceSlots& slots, bool taken) {
  const auto is_in = [](const auto& item, const auto& all) {
    return std::ranges::find(all, item) != all.end();
  };
  for (std::size_t i = 0; i < core_taken_.size(); ++i) {
    const std::vector<int>& threads = capacity_.cores[i];
    if (std::ranges::any_of(threads, [&](int cpu) { return is_in(cpu, slots.cpus); }))
      core_taken_[i] = taken;
  }
  for (std::size_t i = 0; i < gpu_taken_.size(); ++i) {
    if (is_in(capacity_.gpus[i], slots.gpus)) gpu_taken_[i] = taken;
  }
}

}  // namespace sabath::planning
