#pragma once

#include "nvml_api.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sabath::probe {

/// NVIDIA's management library, loaded and initialised for as long as this lives. One thread at a
/// time.
class Nvml {
 public:
  /// `library` is a name that the loader searches for, or a path. Never throws for what is not
  /// there.
  explicit Nvml(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why there are no devices ("libnvidia-ml.so.1 not found", "driver not loaded", "no device");
  /// empty when there are some.
  const std::string& reason() const noexcept { return reason_; }
  const std::vector<nvml::Device>& devices() const noexcept { return devices_; }
  const nvml::Functions& functions() const noexcept { return functions_; }

 private:
  struct Unload {
    void operator()(void* handle) const;
  };

  bool load(const std::string& library);
  bool start();
  void find_devices();
  std::string words(nvml::Result result) const;

  std::unique_ptr<void, Unload> handle_;
  nvml::Functions functions_{};
  bool started_ = false;
  std::vector<nvml::Device> devices_{};
  std::string reason_{};
};

}  // namespace sabath::probe
