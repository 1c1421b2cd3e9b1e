#include "gpu_watch.hpp"

#include <algorithm>
#include <functional>

namespace sabath::probe {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Compares as CUDA does: names may be shortened, and older drivers name a part by its GPU
/// ("MIG-GPU-<uuid>/1/0").
bool is_name_of(const std::string& name, const spec::GpuFacts& gpu) {
  if (name.starts_with("MIG-GPU-")) {
    const std::size_t begin = name.find("GPU-");
    return gpu.uuid == name.substr(begin, name.find('/') - begin);
  }
  return gpu.uuid.starts_with(name);
}

/// Returns true where CUDA's numbers are those of the driver.
bool has_numbers(const GpuLibrary& library, bool by_bus) {
  std::string model;
  for (std::size_t device = 0; device < library.count(); ++device) {
    const auto all = library.facts(device);
    if (all.empty() || all.front().mig) return false;
    if (device > 0 && !by_bus && all.front().name != model) return false;
    model = all.front().name;
  }
  return true;
}

bool is_visible(const GpuLibrary& library,
                std::size_t device,
                const std::vector<std::string>& wanted) {
  const auto all = library.facts(device);
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    if (is_number(name)) return name == std::to_string(device);
    return std::any_of(
        all.begin(), all.end(), [&](const spec::GpuFacts& gpu) { return is_name_of(name, gpu); });
  });
}

template <class T, class Better>
void keep(std::optional<T>& best, const std::optional<T>& value, Better better) {
  if (value && (!best || better(*value, *best))) best = value;
}

}  // namespace

std::vector<WatchedGpu> choose_gpus(const GpuLibraries& libraries, const VisibleGpus& visible) {
  const bool by_number =
      visible.names && std::any_of(visible.names->begin(), visible.names->end(), is_number);
  std::vector<WatchedGpu> chosen;
  for (const auto& library : libraries) {
    const bool all = !visible.names || (by_number && !has_numbers(*library, visible.by_bus));
    for (std::size_t device = 0; device < library->count(); ++device) {
      if (!all && !is_visible(*library, device, *visible.names)) continue;
      chosen.push_back({library.get(), device, library->uuid(device)});
    }
  }
  return chosen;
}

void GpuWatch::Mean::add(const std::optional<double>& value) {
  if (!value) return;
  sum += *value;
  ++count;
}

std::optional<double> GpuWatch::Mean::value() const {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

GpuWatch::GpuWatch(std::vector<WatchedGpu> gpus) {
  for (auto& gpu : gpus) {
    auto& account = accounts_.emplace_back();
    account.usage.uuid = gpu.uuid;
    account.gpu = std::move(gpu);
  }
}

std::vector<GpuWatch::Look> GpuWatch::look() {
  std::vector<Look> looks;
  for (Account& account : accounts_) {
    const auto& gpu = account.gpu;
    looks.push_back({&gpu.uuid, gpu.library->state(gpu.device)});
    add(looks.back().state, account);
  }
  return looks;
}

void GpuWatch::add(const GpuState& state, Account& account) {
  spec::GpuUsage& usage = account.usage;
  account.utilisation.add(state.utilisation);
  account.power_w.add(state.power_w);
  keep(usage.max_memory_bytes, state.memory_bytes, std::greater<>());
  keep(usage.max_temperature_c, state.temperature_c, std::greater<>());
  keep(usage.min_clock_mhz, state.clock_mhz, std::less<>());
  keep(usage.max_clock_mhz, state.clock_mhz, std::greater<>());
  for (const auto& reason : state.throttled)
    ++usage.throttled[reason];
}

std::optional<std::vector<spec::GpuUsage>> GpuWatch::summary() const {
  if (accounts_.empty()) return std::nullopt;
  std::vector<spec::GpuUsage> all;
  for (const Account& account : accounts_) {
    auto& usage = all.emplace_back(account.usage);
    usage.mean_utilisation = account.utilisation.value();
    usage.mean_power_w = account.power_w.value();
  }
  return all;
}

}  // namespace sabath::probe
