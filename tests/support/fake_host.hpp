#pragma once

#include "temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/probe/host_probe.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace sabath::test {

/// A tree that a probe may take for the root of a host: one x86 guest with four hardware threads,
/// 8 GiB of memory, no control groups, until a test says otherwise. No tools are run and no GPU is
/// looked for; the topology is one of hwloc's XML files.
class FakeHost {
 public:
  FakeHost() {
    put("proc/sys/kernel/random/boot_id", "0f9c7f1e-0000-4000-8000-00000000beef\n");
    put("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    put("proc/cpuinfo", cpuinfo);
    put("proc/meminfo", "MemTotal:        8388608 kB\nMemAvailable:    4194304 kB\n");
    put("proc/loadavg", "1.25 0.50 0.10 3/100 8779\n");
    put("proc/self/status", "Name:\tsabath\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    put("sys/devices/system/cpu/online", "0-3\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    sources_.root = root();
    sources_.topology_xml = std::filesystem::path(SABATH_TEST_DATA) / "probe/two-sockets.xml";
    sources_.nvml_library = "libsabath-no-such-nvml.so.1";
    sources_.rocm_smi_libraries = {"libsabath-no-such-rocm-smi.so.1"};
    sources_.run_tools = false;
  }

  std::filesystem::path root() const { return home_ / "root"; }
  std::filesystem::path state() const { return home_ / "state"; }
  /// Of the first environment that was looked at.
  std::filesystem::path memo() {
    if (!memo_.empty()) return memo_;
    for (const auto& entry : std::filesystem::directory_iterator(state() / "hosts")) {
      if (entry.path().filename().string().starts_with("0f9c7f1e-")) memo_ = entry.path();
    }
    return memo_;
  }
  probe::ProbeSources& sources() { return sources_; }

  /// Writes a file of the tree, with the folders above it.
  void put(const std::string& path, std::string_view content) const {
    const auto file = root() / path;
    base::make_directories(file.parent_path());
    base::write_file_atomically(file, content, base::Durability::ordered_only);
  }

 private:
  static constexpr std::string_view cpuinfo =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz\nstepping\t: 7\n"
      "microcode\t: 0x5003604\nflags\t\t: fpu sse2 hypervisor avx512f\n\nprocessor\t: 1\n"
      "vendor_id\t: Other\n";

  TempHome home_{};
  probe::ProbeSources sources_{};
  std::filesystem::path memo_{};
};

}  // namespace sabath::test
