#pragma once

#include <sabath/probe/probe.hpp>

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// Present state of a GPU. Absent values are unknown.
struct GpuState {
  std::optional<double> utilisation{};  ///< 0 to 1
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> power_w{};
  std::optional<double> temperature_c{};
  std::optional<int> clock_mhz{};
  std::optional<int> memory_clock_mhz{};
  std::vector<std::string> throttled{};  ///< reasons for lowered clocks
};

/// A vendor's management library, loaded and initialised. Thread safety: one thread at a time.
/// Never throws for missing devices.
class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;
  virtual std::string_view name() const = 0;  ///< "nvml"
  /// Returns why devices are missing ("libnvidia-ml.so.1 not found", "no device"); empty otherwise.
  virtual const std::string& reason() const = 0;
  virtual std::size_t count() const = 0;
  virtual std::string uuid(std::size_t device) const = 0;
  /// Returns the facts of the device, then those of its MIG parts.
  virtual std::vector<spec::GpuFacts> facts(std::size_t device) const = 0;
  virtual GpuState state(std::size_t device) const = 0;
  /// Returns the energy by the device's counter, since some moment; nothing without a counter.
  virtual std::optional<double> energy_j(std::size_t device) const = 0;
};

using GpuLibraries = std::vector<std::unique_ptr<GpuLibrary>>;

/// NVIDIA's.
std::unique_ptr<GpuLibrary> open_nvml(const ProbeSources& sources);
/// AMD's. Loaded only where AMD's driver is present.
std::unique_ptr<GpuLibrary> open_rocm_smi(const ProbeSources& sources);
/// Opens the libraries of all makers; this is the only list of them. One that is not here says why.
GpuLibraries open_gpu_libraries(const ProbeSources& sources);

/// Calls a function of such a library that writes one value last; nothing where it is missing or
/// fails.
template <class Value, class... Parameters, class... Arguments>
std::optional<Value> value_from(int (*function)(Parameters...), Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != 0) return std::nullopt;
  return value;
}

/// A shared library, loaded as long as this object lives.
class SharedLibrary {
 public:
  /// `name` is a path, or is searched by the loader.
  explicit SharedLibrary(const std::string& name);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Returns why it is not loaded.
  const std::string& reason() const noexcept { return reason_; }
  /// Looks up a function; null where the library lacks it.
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

/// Returns the name of a process whose id a driver reports. Empty in a container: the same id may
/// be another process here.
std::string process_name(unsigned pid, const std::filesystem::path& root);

}  // namespace sabath::probe
