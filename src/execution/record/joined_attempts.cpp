#include "joined_attempts.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <compare>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::SeriesId;
using base::SeriesPoint;

/// Which numbers a code gives its points: those of one kind are in an order.
enum class Kind { none, step, epoch, step_in_epoch };

struct Place {
  std::int64_t epoch = 0;
  std::int64_t step = 0;

  auto operator<=>(const Place&) const = default;
};

/// The points of one metric, rank and kind have one course.
using Key = std::tuple<std::string, std::int32_t, Kind>;

Kind kind_of(const SeriesPoint& point) {
  const bool has_step = point.step != base::no_step;
  if (point.epoch == base::no_step) return has_step ? Kind::step : Kind::none;
  return has_step ? Kind::step_in_epoch : Kind::epoch;
}

Place place_of(const SeriesPoint& point) {
  return {point.epoch == base::no_step ? 0 : point.epoch,
          point.step == base::no_step ? 0 : point.step};
}

/// One that steps back: from the point with this number on, counted within its course.
struct Return {
  std::size_t at = 0;
  Place to{};
};

struct Course {
  Place first{};  ///< the least
  Place last{};
  std::size_t points = 0;
  std::vector<Return> returns{};
};

/// Of a sink for one stage: what its numbers of series mean.
class OfStage : public base::SeriesSink {
 public:
  SeriesId open(std::string_view, std::string_view metric) override {
    const auto found = std::find(names_.begin(), names_.end(), metric);
    const auto index = static_cast<std::size_t>(found - names_.begin());
    if (found == names_.end()) names_.emplace_back(metric);
    return static_cast<SeriesId>(index);
  }

 protected:
  Key key_of(SeriesId series, const SeriesPoint& point) const {
    return {names_[static_cast<std::size_t>(series)], point.rank, kind_of(point)};
  }

 private:
  std::vector<std::string> names_{};
};

/// The courses of one attempt.
class Courses final : public OfStage {
 public:
  void add(SeriesId series, const SeriesPoint& point) override {
    const Key key = key_of(series, point);
    const Place place = place_of(point);
    Course& course = all_[key];
    if (course.points == 0 || place < course.first) course.first = place;
    if (course.points > 0 && place < course.last) course.returns.push_back({course.points, place});
    course.last = place;
    ++course.points;
    metrics_.insert(std::get<std::string>(key));
  }

  const Course* find(const Key& key) const {
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
  }
  bool has(const std::string& metric) const { return metrics_.contains(metric); }
  const std::map<Key, Course>& all() const noexcept { return all_; }

  /// Where the attempt took the course of a code up, as far as this kind of places tells.
  std::optional<Place> least(Kind kind) const {
    std::optional<Place> least;
    for (const auto& [key, course] : all_) {
      if (std::get<Kind>(key) == kind && (!least || course.first < *least)) least = course.first;
    }
    return least;
  }
  /// Did the attempt do this once more?
  bool repeats(const Key& key, const Place& place) const {
    if (const Course* own = find(key))
      return std::get<Kind>(key) == Kind::none || place >= own->first;
    // Of what it did not report all that was after its beginning is of a course that was given up.
    const Kind kind = std::get<Kind>(key);
    const auto begun = kind == Kind::none ? std::nullopt : least(kind);
    return begun && place >= *begun;
  }

 private:
  std::map<Key, Course> all_{};
  std::set<std::string> metrics_{};
};

/// Passes on what no later attempt did once more.
class Earlier final : public OfStage {
 public:
  Earlier(const std::string& stage,
          std::vector<const Courses*> later,
          const std::set<std::string>& left_out,
          base::SeriesSink& next)
      : stage_(stage), later_(std::move(later)), left_out_(left_out), next_(next) {}

  void add(SeriesId series, const SeriesPoint& point) override {
    const Key key = key_of(series, point);
    const std::string& metric = std::get<std::string>(key);
    if (left_out_.contains(metric)) return;
    const bool is_repeated = std::any_of(later_.begin(), later_.end(), [&](const Courses* attempt) {
      return attempt->repeats(key, place_of(point));
    });
    if (!is_repeated) next_.add(next_.open(stage_, metric), point);
    if (is_repeated && std::get<Kind>(key) == Kind::none) unplaced_.insert(metric);
  }

  const std::set<std::string>& unplaced() const noexcept { return unplaced_; }

 private:
  const std::string& stage_;
  std::vector<const Courses*> later_;
  const std::set<std::string>& left_out_;
  base::SeriesSink& next_;
  std::set<std::string> unplaced_{};
};

/// Passes on the last attempt, and of files that all attempts wrote to what was not done once more.
class Last final : public OfStage {
 public:
  Last(const std::string& stage, const std::map<Key, Course>& joined, base::SeriesSink& next)
      : stage_(stage), joined_(joined), next_(next) {}

  void add(SeriesId series, const SeriesPoint& point) override {
    const Key key = key_of(series, point);
    if (!is_given_up(key, place_of(point)))
      next_.add(next_.open(stage_, std::get<std::string>(key)), point);
  }

 private:
  bool is_given_up(const Key& key, const Place& place) {
    const auto course = joined_.find(key);
    if (course == joined_.end()) return false;
    const std::size_t number = numbers_[key]++;
    const auto& returns = course->second.returns;
    return std::any_of(returns.begin(), returns.end(), [&](const Return& one) {
      return number < one.at && one.to <= place;
    });
  }

  const std::string& stage_;
  const std::map<Key, Course>& joined_;
  base::SeriesSink& next_;
  std::map<Key, std::size_t> numbers_{};
};

/// What a code tells of itself only when it begins stands in its first attempt.
void add_told(collect::Extraction&& earlier, collect::Extraction& all) {
  const auto add_new = [](auto& to, const auto& from) {
    for (const auto& one : from) {
      if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
    }
  };
  all.collected.parameters.merge(earlier.collected.parameters);
  all.reported.seeds.merge(earlier.reported.seeds);
  add_new(all.collected.seeds, earlier.collected.seeds);
  if (!earlier.collected.seed_places) return;
  if (!all.collected.seed_places) all.collected.seed_places.emplace();
  add_new(*all.collected.seed_places, *earlier.collected.seed_places);
}

/// A work folder on a node's own disk went with its job.
bool has_lost_files(const fs::path& attempt,
                    const std::string& stage,
                    const std::vector<spec::MetricSpec>& declared) {
  std::error_code code;
  if (fs::exists(attempt / "work", code)) return false;
  return std::any_of(declared.begin(), declared.end(), [&](const spec::MetricSpec& metric) {
    const std::string& file = metric.from.file;
    const bool is_here = metric.from.stage.empty() || metric.from.stage == stage;
    return is_here && !file.empty() && file != "stdout" && file != "stderr";
  });
}

std::string of_metric(const std::string& name) {
  return "metric '" + base::printable(name) + "'";
}

}  // namespace

collect::Extraction extract_joined(const collect::StageFiles& files,
                                   const std::vector<spec::MetricSpec>& declared,
                                   base::SeriesSink& sink) {
  const auto without_outputs = [&](const fs::path& folder) {
    return collect::StageFiles{files.stage, folder, {}, {}, files.limits};
  };
  std::vector<Courses> attempts(files.earlier.size() + 1);
  for (std::size_t i = 0; i < files.earlier.size(); ++i)
    collect::extract_all(without_outputs(files.earlier[i]), declared, attempts[i]);
  collect::extract_all(without_outputs(files.directory), declared, attempts.back());
  Courses with_outputs;
  collect::extract_all(files, declared, with_outputs);

  std::vector<std::string> told;
  // What comes from the stage's outputs is of all attempts, and steps back once for each at most.
  std::map<Key, Course> joined;
  std::set<std::string> left_out;
  std::set<std::string> unclear;
  for (const auto& [key, course] : with_outputs.all()) {
    const std::string& metric = std::get<std::string>(key);
    if (attempts.back().has(metric)) continue;
    left_out.insert(metric);
    if (course.returns.size() <= files.earlier.size()) {
      joined.emplace(key, course);
    } else {
      unclear.insert(metric);
    }
  }
  for (const std::string& name : unclear) {
    told.push_back(of_metric(name) + " steps back more often than the stage was taken up again: " +
                   "what was done once more is not known, and counts twice");
  }
  // A later attempt begins cold: speeds are those of the last alone.
  for (const spec::MetricSpec& metric : declared) {
    if (metric.performance) left_out.insert(metric.name);
  }

  std::set<std::string> unplaced;
  std::vector<collect::Extraction> extractions;
  for (std::size_t i = 0; i < files.earlier.size(); ++i) {
    std::vector<const Courses*> later;
    for (std::size_t j = i + 1; j < attempts.size(); ++j)
      later.push_back(&attempts[j]);
    Earlier earlier(files.stage, std::move(later), left_out, sink);
    extractions.push_back(
        collect::extract_all(without_outputs(files.earlier[i]), declared, earlier));
    unplaced.insert(earlier.unplaced().begin(), earlier.unplaced().end());
    if (has_lost_files(files.earlier[i], files.stage, declared)) {
      told.push_back("attempt " + files.earlier[i].parent_path().filename().string() +
                     ": its work folder is gone, and what metrics were in files there");
    }
  }
  for (const std::string& name : unplaced) {
    told.push_back(of_metric(name) +
                   " has values without steps: those of earlier attempts are left out");
  }
  Last last(files.stage, joined, sink);
  collect::Extraction all = collect::extract_all(files, declared, last);
  all.reported.orders.clear();
  for (auto one = extractions.rbegin(); one != extractions.rend(); ++one)
    add_told(std::move(*one), all);
  all.collected.notes.insert(all.collected.notes.end(), told.begin(), told.end());
  return all;
}

}  // namespace sabath::execution
