#pragma once

#include <cstdint>
#include <string>

namespace sabath::env {

/// Which process builds an attempt, so that others can tell whether it still does.
struct BuilderProcess {
  std::string host{};
  std::string boot_id{};
  std::string pid_namespace{};  ///< processes in different containers do not see one another
  std::int64_t pid = 0;
  std::string start_ticks{};  ///< since boot, as /proc tells: a pid alone may be somebody else's

  bool operator==(const BuilderProcess&) const = default;
};

BuilderProcess this_process();

enum class Liveness { alive, dead, unknown };

/// `unknown` for one on another host, before the last boot, or in another container.
Liveness liveness_of(const BuilderProcess& builder);

}  // namespace sabath::env
