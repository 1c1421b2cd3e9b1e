#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/serve/live_source.hpp>

#include <functional>
#include <memory>
#include <string>

namespace sabath::live {

/// What the view is made of. All are called by one thread at a time.
struct ViewParts {
  home::Folders folders{};
  /// The catalog, opened again where its file was replaced or removed.
  std::function<catalog::Catalog&()> catalog{};
  /// Brings the catalog up to date from the inbox.
  std::function<void()> refresh{};
  std::function<const home::Documents&()> documents{};
  std::function<cache::Cache&()> cache{};
  batch::MonitorOf monitor_of{};
  base::Clock* clock = nullptr;
  bool asks_schedulers = true;
};

/// The home as the live view shows it. It only reads: it closes no run, and what it indexes in the
/// catalog any other command would index. Each answer is a JSON document: docs/formats/live.md.
/// Looks at files of those runs only that somebody looks at, with at most 20 metadata operations a
/// second for all pages together.
/// Thread safety: all members.
class LiveView final : public serve::LiveSource {
 public:
  explicit LiveView(ViewParts parts);
  ~LiveView() override;
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  Kind kind_of(const serve::Query& query) const override;
  std::string answer(const serve::Query& query) override;
  serve::Download open(const serve::Query& query) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::live
