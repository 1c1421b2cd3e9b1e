#pragma once

#include "gpu_library.hpp"
#include "nvml_api.hpp"

namespace sabath::probe {

/// NVIDIA's management library.
class Nvml final : public GpuLibrary {
 public:
  explicit Nvml(const ProbeSources& sources);
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string_view name() const override { return "nvml"; }
  const std::string& reason() const override { return reason_; }
  std::size_t count() const override { return devices_.size(); }
  std::string uuid(std::size_t device) const override;
  std::vector<spec::GpuFacts> facts(std::size_t device) const override;
  GpuState state(std::size_t device) const override;
  std::optional<double> energy_j(std::size_t device) const override;

 private:
  bool load(const std::string& name);
  bool start();
  void find_devices();
  std::string words(nvml::Result result) const;
  spec::GpuFacts facts_of(nvml::Device device) const;
  std::vector<spec::GpuProcess> processes_of(nvml::Device device) const;

  SharedLibrary library_;
  std::filesystem::path root_;
  nvml::Functions functions_{};
  bool started_ = false;
  std::vector<nvml::Device> devices_{};
  std::string reason_{};
};

}  // namespace sabath::probe
