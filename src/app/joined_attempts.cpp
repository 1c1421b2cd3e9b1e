#include "joined_attempts.hpp"

#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace sabath::app {
namespace {

using base::SeriesId;
using base::SeriesPoint;

std::int64_t place_of(const SeriesPoint& point) {
  return point.step != base::no_step ? point.step : point.epoch;
}

/// Where each rank's points of a metric begin.
using Beginnings = std::map<std::pair<std::string, std::int32_t>, std::int64_t>;

/// Numbers for the names of metrics, all of one stage.
class Named : public base::SeriesSink {
 public:
  SeriesId open(std::string_view, std::string_view metric) override {
    const auto found = std::find(names_.begin(), names_.end(), metric);
    const auto index = static_cast<std::size_t>(found - names_.begin());
    if (found == names_.end()) names_.emplace_back(metric);
    return static_cast<SeriesId>(index);
  }

 protected:
  const std::string& name_of(SeriesId series) const {
    return names_[static_cast<std::size_t>(series)];
  }

 private:
  std::vector<std::string> names_{};
};

/// Notes them, beside those that are known.
class FirstPlaces final : public Named {
 public:
  explicit FirstPlaces(Beginnings& beginnings) : beginnings_(beginnings) {}

  void add(SeriesId series, const SeriesPoint& point) override {
    const auto [known, is_new] =
        beginnings_.try_emplace({name_of(series), point.rank}, place_of(point));
    if (!is_new) known->second = std::min(known->second, place_of(point));
  }

 private:
  Beginnings& beginnings_;
};

/// Passes on what comes before them.
class Before final : public Named {
 public:
  Before(std::string stage, const Beginnings& beginnings, base::SeriesSink& next)
      : stage_(std::move(stage)), beginnings_(beginnings), next_(next) {}

  void add(SeriesId series, const SeriesPoint& point) override {
    const std::string& name = name_of(series);
    const auto later = beginnings_.find({name, point.rank});
    if (later == beginnings_.end() || place_of(point) < later->second) {
      next_.add(next_.open(stage_, name), point);
    } else if (place_of(point) == base::no_step) {
      unplaced_.insert(name);
    }
  }

  /// Metrics whose values have no steps, and were left out.
  const std::set<std::string>& unplaced() const noexcept { return unplaced_; }

 private:
  std::string stage_;
  const Beginnings& beginnings_;
  base::SeriesSink& next_;
  std::set<std::string> unplaced_{};
};

}  // namespace

std::vector<std::string> add_earlier(const collect::StageFiles& files,
                                     const std::vector<spec::MetricSpec>& declared,
                                     base::SeriesSink& sink) {
  // What the stage's outputs hold is of all attempts already.
  const auto attempt_in = [&](const std::filesystem::path& folder) {
    return collect::StageFiles{files.stage, folder, {}, {}};
  };
  std::vector<Beginnings> after(files.earlier.size());
  Beginnings known;
  for (std::size_t i = files.earlier.size(); i-- > 0;) {
    const bool is_newest = i + 1 == files.earlier.size();
    FirstPlaces first(known);
    const auto& later = is_newest ? files : attempt_in(files.earlier[i + 1]);
    collect::extract_all(later, declared, first);
    after[i] = known;
  }
  std::set<std::string> unplaced;
  for (std::size_t i = 0; i < files.earlier.size(); ++i) {
    Before before(files.stage, after[i], sink);
    collect::extract_all(attempt_in(files.earlier[i]), declared, before);
    unplaced.insert(before.unplaced().begin(), before.unplaced().end());
  }
  std::vector<std::string> told;
  for (const std::string& name : unplaced) {
    told.push_back("metric '" + base::printable(name) +
                   "' has values without steps: those of earlier attempts are left out");
  }
  return told;
}

}  // namespace sabath::app
