#include "view_state.hpp"

#include "growing_courses.hpp"
#include "runs_under_way.hpp"
#include "series_so_far.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/run_state.hpp>

#include <algorithm>

#include <sys/stat.h>

namespace sabath::live {
namespace {

constexpr std::chrono::seconds between_refreshes(2);
constexpr std::size_t most_courses = 16;
constexpr std::size_t most_series = 4;

}  // namespace

std::int64_t changed_at(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return -1;
  return status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
}

ViewState::ViewState(ViewParts parts)
    : parts_(std::move(parts)),
      budget_(*parts_.clock),
      under_way_(std::make_unique<RunsUnderWay>(*this)) {}

ViewState::~ViewState() = default;

catalog::Catalog& ViewState::catalog() {
  const base::SteadyTime now = clock().steady();
  if (catalog_ != nullptr && now - *refreshed_ < between_refreshes) return *catalog_;
  refreshed_ = now;
  catalog_ = nullptr;
  budget_.charge(2);
  catalog::Catalog& catalog = parts_.catalog();
  catalog_ = &catalog;
  const std::int64_t inbox = changed_at(parts_.folders.runs() / ".inbox");
  if (inbox == inbox_changed_ && catalog_version_ > 0) return catalog;
  try {
    parts_.refresh();
    inbox_changed_ = inbox;  // of before: a note that came meanwhile is taken in the next time
    problem_.clear();
  } catch (const base::Error& error) {
    problem_ = error.what();  // a home that is full or read-only still shows what it has
  }
  ++catalog_version_;
  return catalog;
}

catalog::RunRow ViewState::run(const std::string& id) {
  if (!spec::is_run_id(id)) {
    throw base::Error(base::ErrorKind::not_found,
                      "'" + base::printable(id) + "' is not the id of a run");
  }
  return catalog().select(id, clock().now()).front();
}

template <class Kept>
std::shared_ptr<Kept> ViewState::kept_of(ByRun<Kept>& all,
                                         const catalog::RunRow& row,
                                         std::size_t most) {
  Used<Kept>& used = all[row.id];
  if (!used.kept) used.kept = std::make_shared<Kept>(row.directory);
  used.at = clock().steady();
  std::shared_ptr<Kept> found = used.kept;
  if (all.size() > most)
    all.erase(std::ranges::min_element(all, {}, [](const auto& one) { return one.second.at; }));
  return found;
}

std::shared_ptr<GrowingCourses> ViewState::courses(const catalog::RunRow& row) {
  return kept_of(courses_, row, most_courses);
}

std::shared_ptr<SeriesKept> ViewState::series(const catalog::RunRow& row) {
  return kept_of(series_, row, most_series);
}

}  // namespace sabath::live
