#include "source_build.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>

#include <sched.h>

#include <algorithm>

namespace sabath::env {

Tool require_tool(const SourceBuild& build, const std::string& name) {
  if (auto found = build.toolchain.tool(name, build.environment)) return *found;
  throw base::Error(base::ErrorKind::environment,
                    place_of(build.build.lock.name) + ": " + name + " not found on PATH",
                    "install it (Debian: apt install " + name + ") or load a module that has it");
}

std::string jobs_of(const BuildLimits& limits) {
  if (limits.jobs > 0) return std::to_string(limits.jobs);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return "1";
  return std::to_string(std::max(CPU_COUNT(&cpus), 1));
}

}  // namespace sabath::env
