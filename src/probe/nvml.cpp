#include "nvml.hpp"

#include <dlfcn.h>

namespace sabath::probe {

void Nvml::Unload::operator()(void* handle) const {
  ::dlclose(handle);
}

Nvml::Nvml(const std::string& library) {
  if (load(library) && start()) find_devices();
}

Nvml::~Nvml() {
  if (started_) functions_.shutdown();
}

bool Nvml::load(const std::string& library) {
  handle_.reset(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle_) {
    const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    const std::string problem = why == nullptr ? "" : why;
    const bool absent = problem.find("No such file") != std::string::npos;
    reason_ = absent ? library + " not found" : "cannot load " + library + ": " + problem;
    return false;
  }
  const auto find = [this](const char* name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle_.get(), name));
    return function != nullptr;
  };
  auto& f = functions_;
  find("nvmlErrorString", f.error_string);
  find("nvmlSystemGetDriverVersion", f.driver_version);
  find("nvmlDeviceGetName", f.name);
  find("nvmlDeviceGetUUID", f.uuid);
  find("nvmlDeviceGetPciInfo_v3", f.pci_info);
  find("nvmlDeviceGetMemoryInfo", f.memory_info);
  find("nvmlDeviceGetEnforcedPowerLimit", f.enforced_power_limit);
  find("nvmlDeviceGetClockInfo", f.clock);
  find("nvmlDeviceGetMaxClockInfo", f.max_clock);
  find("nvmlDeviceGetMigMode", f.mig_mode);
  find("nvmlDeviceGetEccMode", f.ecc_mode);
  const bool usable = find("nvmlInit_v2", f.init) && find("nvmlShutdown", f.shutdown) &&
                      find("nvmlDeviceGetCount_v2", f.count) &&
                      find("nvmlDeviceGetHandleByIndex_v2", f.handle);
  if (!usable) reason_ = library + " is too old, or not NVML";
  return usable;
}

bool Nvml::start() {
  const auto result = functions_.init();
  started_ = result == nvml::success;
  if (result == nvml::driver_not_loaded) {
    reason_ = "driver not loaded";
  } else if (!started_) {
    reason_ = "cannot initialise NVML: " + words(result);
  }
  return started_;
}

/// A device that a control group keeps from this process is counted but has no handle.
void Nvml::find_devices() {
  unsigned count = 0;
  if (const auto result = functions_.count(&count); result != nvml::success) {
    reason_ = "cannot count devices: " + words(result);
    return;
  }
  reason_ = "no device";
  for (unsigned index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    const auto result = functions_.handle(index, &device);
    if (result == nvml::success) devices_.push_back(device);
    if (result != nvml::success) reason_ = "no device that may be used: " + words(result);
  }
  if (!devices_.empty()) reason_.clear();
}

std::string Nvml::words(nvml::Result result) const {
  const char* text = functions_.error_string == nullptr ? nullptr : functions_.error_string(result);
  return text == nullptr ? "error " + std::to_string(result) : text;
}

}  // namespace sabath::probe
