#pragma once

#include <sabath/probe/host_probe.hpp>

#include <memory>

namespace sabath::probe {

std::unique_ptr<Probe> make_cpu_probe();             ///< model, flags: /proc/cpuinfo
std::unique_ptr<Probe> make_topology_probe();        ///< counts, caches, NUMA, devices: hwloc
std::unique_ptr<Probe> make_compiler_probe();        ///< first lines of --version
std::unique_ptr<Probe> make_allowance_probe();       ///< affinity, control groups, memory
std::unique_ptr<Probe> make_system_probe();          ///< OS, kernel, libc, load, governor
std::unique_ptr<Probe> make_virtualization_probe();  ///< container or hypervisor
std::unique_ptr<Probe> make_blas_probe();            ///< what the loader would find
std::unique_ptr<Probe> make_mitigations_probe();     ///< /sys/devices/system/cpu/vulnerabilities
std::unique_ptr<Probe> make_settings_probe();        ///< what the kernel is set to
std::unique_ptr<Probe> make_link_probe();            ///< state and speed of network devices
std::unique_ptr<Probe> make_gpu_probe();             ///< NVML, ROCm SMI
std::unique_ptr<Probe> make_noise_probe();           ///< why the node is not quiet

}  // namespace sabath::probe
