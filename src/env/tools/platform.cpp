#include "platform.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>

#include <array>

#include <sys/utsname.h>
#include <unistd.h>

namespace sabath::env {
namespace {

/// Returns the value of `key` in os-release(5), without quotes; empty where it is missing.
std::string os_release_value(const std::string& text, const std::string& key) {
  for (const std::string& line : base::split(text, '\n')) {
    if (!line.starts_with(key + "=")) continue;
    std::string value = line.substr(key.size() + 1);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
      value = value.substr(1, value.size() - 2);
    }
    return value;
  }
  return {};
}

std::string operating_system() {
  auto text = base::read_file_if_exists("/etc/os-release");
  if (!text) text = base::read_file_if_exists("/usr/lib/os-release");
  if (!text) return {};
  const std::string version = os_release_value(*text, "VERSION_ID");
  return os_release_value(*text, "ID") + (version.empty() ? "" : " " + version);
}

std::string libc() {
  std::array<char, 64> text{};
#ifdef _CS_GNU_LIBC_VERSION
  if (::confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size()) == 0) return {};
#endif
  return text.data();
}

}  // namespace

std::string platform_here() {
  struct utsname names {};
  return ::uname(&names) == 0 ? "linux-" + std::string(names.machine) : "linux-unknown";
}

std::string architecture_level() {
#ifdef __x86_64__
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : v2 ? "x86-64-v2" : "x86-64";
#else
  return "baseline";
#endif
}

std::map<std::string, std::string> platform_facts() {
  struct utsname names {};
  std::map<std::string, std::string> facts;
  if (::uname(&names) == 0) facts["platform.architecture"] = names.machine;
  facts["platform.os"] = operating_system();
  facts["platform.libc"] = libc();
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

}  // namespace sabath::env
