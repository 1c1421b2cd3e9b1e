#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>

#include <functional>

namespace sabath::live {

/// What the view is made of. All are called by one thread at a time, `monitor_of` by a thread of
/// its own.
struct ViewParts {
  home::Folders folders{};
  /// The catalog, opened again where its file was replaced or removed.
  std::function<catalog::Catalog&()> catalog{};
  /// Brings the catalog up to date from the inbox, and does nothing else: a look fires no hook.
  std::function<void()> refresh{};
  std::function<const home::Documents&()> documents{};
  std::function<cache::Cache&()> cache{};
  batch::MonitorOf monitor_of{};
  base::Clock* clock = nullptr;
  bool asks_schedulers = true;
};

}  // namespace sabath::live
