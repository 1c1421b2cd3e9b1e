#include <sabath/base/error.hpp>
#include <sabath/base/process/affinity.hpp>

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace sabath::base {

void bind_to_cpus(const std::vector<int>& cpus) {
  const auto refuse = [&](int number) {
    throw Error(ErrorKind::launch,
                fmt::format("cannot bind to CPUs {}: {}", fmt::join(cpus, ","), errno_text(number)),
                "they may have gone offline, or out of this job's set");
  };
  const int highest = cpus.empty() ? -1 : *std::max_element(cpus.begin(), cpus.end());
  if (highest < 0 || *std::min_element(cpus.begin(), cpus.end()) < 0) refuse(EINVAL);
  cpu_set_t* const set = CPU_ALLOC(highest + 1);
  if (set == nullptr) refuse(ENOMEM);
  const std::size_t size = CPU_ALLOC_SIZE(highest + 1);
  CPU_ZERO_S(size, set);
  for (const int cpu : cpus)
    CPU_SET_S(cpu, size, set);
  const int problem = ::sched_setaffinity(0, size, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  if (problem != 0) refuse(problem);
}

}  // namespace sabath::base
