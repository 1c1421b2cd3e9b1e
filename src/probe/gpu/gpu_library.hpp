#pragma once

#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/host_facts.hpp>

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sabath::probe {

/// What a GPU does at the moment; absent: it does not tell.
struct GpuState {
  std::optional<double> utilisation{};  ///< 0 to 1
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> power_w{};
  std::optional<double> temperature_c{};
  std::optional<int> clock_mhz{};
  std::optional<int> memory_clock_mhz{};
  std::vector<std::string> throttled{};  ///< why its clocks are lowered
};

/// A maker's management library, loaded and initialised for as long as this lives. One thread at a
/// time. Never throws for what is not there.
class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;
  virtual std::string_view name() const = 0;  ///< "nvml"
  /// Why there are no devices ("libnvidia-ml.so.1 not found", "no device"); empty when there are.
  virtual const std::string& reason() const = 0;
  virtual std::size_t count() const = 0;
  virtual std::string uuid(std::size_t device) const = 0;
  /// Of the device, and after it of the parts into which it is divided.
  virtual std::vector<spec::GpuFacts> facts(std::size_t device) const = 0;
  virtual GpuState state(std::size_t device) const = 0;
  /// By a counter of its own, since some moment; nothing where it has none.
  virtual std::optional<double> energy_j(std::size_t device) const = 0;
};

using GpuLibraries = std::vector<std::unique_ptr<GpuLibrary>>;

/// The only list of makers; those of whom nothing is here too, with their reasons.
GpuLibraries open_gpu_libraries(const ProbeSources& sources);

/// A library that the loader has found, closed with this.
class SharedLibrary {
 public:
  /// `name` is searched for by the loader, or a path.
  explicit SharedLibrary(const std::string& name);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Why it is not loaded.
  const std::string& reason() const noexcept { return reason_; }
  /// Null where the library lacks it.
  template <class Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(handle_.get(), name));
    return function != nullptr;
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
  std::string reason_{};
};

/// The name of a process whose number a driver told; empty where this process counts processes
/// otherwise than the driver (it is in a container), since the number may be another's here.
std::string process_name(unsigned pid, const std::filesystem::path& root);

}  // namespace sabath::probe
