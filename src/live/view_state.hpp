#pragma once

#include "budget.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/live/view_parts.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

class GrowingCourses;
class RunsUnderWay;
class SeriesKept;

/// What the pages share. Members and pages that use it hold its mutex.
class ViewState {
 public:
  explicit ViewState(ViewParts parts);
  ~ViewState();
  ViewState(const ViewState&) = delete;
  ViewState& operator=(const ViewState&) = delete;

  std::mutex& mutex() { return mutex_; }
  const ViewParts& parts() const { return parts_; }
  base::Clock& clock() const { return *parts_.clock; }
  Budget& budget() { return budget_; }
  RunsUnderWay& under_way() { return *under_way_; }

  /// The catalog, brought up to date where that is due.
  catalog::Catalog& catalog();
  /// Changes whenever the catalog may have.
  std::uint64_t catalog_version() const { return catalog_version_; }
  /// Why the catalog cannot be brought up to date; empty: it can.
  const std::string& problem() const { return problem_; }

  /// The run with this id. Throws Error{not_found}.
  catalog::RunRow run(const std::string& id);
  /// The courses of a run's metrics, which are kept for the next who asks.
  std::shared_ptr<GrowingCourses> courses(const catalog::RunRow& row);
  /// All points of a run, kept as the courses are. Who calls it holds `series_mutex` alone.
  std::shared_ptr<SeriesKept> series(const catalog::RunRow& row);
  std::mutex& series_mutex() { return series_mutex_; }

 private:
  template <class Kept>
  struct Used {
    std::shared_ptr<Kept> kept{};
    base::SteadyTime at{};
  };
  template <class Kept>
  using ByRun = std::map<std::string, Used<Kept>>;
  template <class Kept>
  std::shared_ptr<Kept> kept_of(ByRun<Kept>& all, const catalog::RunRow& row, std::size_t most);

  ViewParts parts_;
  std::mutex mutex_{};
  Budget budget_;
  catalog::Catalog* catalog_ = nullptr;  ///< of `parts_`, until it is due to be looked at
  std::optional<base::SteadyTime> refreshed_{};
  std::int64_t inbox_changed_ = -1;
  std::uint64_t catalog_version_ = 0;
  std::string problem_{};
  ByRun<GrowingCourses> courses_{};
  std::mutex series_mutex_{};
  ByRun<SeriesKept> series_{};
  std::unique_ptr<RunsUnderWay> under_way_;
};

/// The time of the last change of a file in nanoseconds; -1 without one.
std::int64_t changed_at(const std::filesystem::path& file);

}  // namespace sabath::live
