#pragma once

#include "cache_home.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <catch2/catch.hpp>

#include <fstream>

#include <unistd.h>

namespace sabath::test {

constexpr unsigned other_user = 65534;

/// A cache that a group may write, and a folder outside that is the victim's alone. Only root can
/// act as two users.
struct SharedCache {
  SharedCache() {
    if (::geteuid() != 0) return;
    cache::Cache cache(root(), home / "state", clock, {{}, true});
    REQUIRE(::chmod(home.path().c_str(), 0755) == 0);
    share(root());
    std::filesystem::create_directories(home / "victim/old/inner");
    std::ofstream(home / "victim/old/inner/file") << "kept";
  }
  static void share(const std::filesystem::path& folder) {
    REQUIRE(::chown(folder.c_str(), 0, other_user) == 0);
    REQUIRE(::chmod(folder.c_str(), 02775) == 0);
  }
  static void give(const std::filesystem::path& path) {
    REQUIRE(::lchown(path.c_str(), other_user, other_user) == 0);
  }
  static bool is_skipped() {
    if (::geteuid() == 0) return false;
    WARN("SKIPPED: only root can act as a second user");
    return true;
  }
  std::filesystem::path root() const { return home / "cache"; }
  cache::Cache open(const std::string& state = "state", base::Trust trust = {}) {
    return {root(), home / state, clock, {{}, false, std::move(trust)}};
  }
  cache::CacheMaintenance maintenance() { return {root(), home / "state", clock}; }
  cache::GarbageReport collect() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return maintenance().collect({{}, {}, std::chrono::seconds(0), false}, observer);
  }
  bool is_whole() const { return std::filesystem::exists(home / "victim/old/inner/file"); }

  TempHome home{};
  base::SystemClock clock{};
  base::SilentObserver observer{};
};

}  // namespace sabath::test
