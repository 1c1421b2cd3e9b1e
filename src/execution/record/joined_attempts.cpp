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

/// Kind of numbers that code gives its points: numbers of one kind have an order.
enum class Kind { none, step, epoch, step_in_epoch };

struct Place {
  std::int64_t epoch = 0;
  std::int64_t step = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 behind <=> for a pointer
  auto operator<=>(const Place&) const = default;
};

/// The points of one metric, rank and kind form one course.
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

/// A point that steps back: from the point with this number on, counted within its course.
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

/// Meaning of a sink's series numbers, for one stage.
class OfStage : public base::SeriesSink {
 public:
  SeriesId open(std::string_view, std::string_view metric) override {
    const auto found = std::ranges::find(names_, metric);
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

/// Courses of one attempt.
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

  /// Place where the attempt continued the course, as far as this kind of numbers tells.
  std::optional<Place> least(Kind kind) const {
    std::optional<Place> least;
    for (const auto& [key, course] : all_) {
      if (std::get<Kind>(key) == kind && (!least || course.first < *least)) least = course.first;
    }
    return least;
  }
  /// Returns true where the attempt repeated this point.
  bool repeats(const Key& key, const Place& place) const {
    if (const Course* own = find(key))
      return std::get<Kind>(key) == Kind::none || place >= own->first;
    // A point after the attempt's beginning that it did not report belongs to an abandoned course.
    const Kind kind = std::get<Kind>(key);
    const auto begun = kind == Kind::none ? std::nullopt : least(kind);
    return begun && place >= *begun;
  }

 private:
  std::map<Key, Course> all_{};
  std::set<std::string> metrics_{};
};

/// Passes on what no later attempt repeated.
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
    const bool is_repeated = std::ranges::any_of(
        later_, [&](const Courses* attempt) { return attempt->repeats(key, place_of(point)); });
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

/// Passes on the last attempt, and from files that all attempts wrote what was not repeated.
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
    return std::ranges::any_of(
        returns, [&](const Return& one) { return number < one.at && one.to <= place; });
  }

  const std::string& stage_;
  const std::map<Key, Course>& joined_;
  base::SeriesSink& next_;
  std::map<Key, std::size_t> numbers_{};
};

/// Code reports some values only at its beginning: they stand in its first attempt.
void add_reported(collect::Extraction&& earlier, collect::Extraction& all) {
  const auto add_new = [](auto& to, const auto& from) {
    for (const auto& one : from) {
      if (std::ranges::find(to, one) == to.end()) to.push_back(one);
    }
  };
  all.collected.parameters.merge(earlier.collected.parameters);
  all.reported.seeds.merge(earlier.reported.seeds);
  add_new(all.collected.seeds, earlier.collected.seeds);
  if (!earlier.collected.seed_places) return;
  if (!all.collected.seed_places) all.collected.seed_places.emplace();
  add_new(*all.collected.seed_places, *earlier.collected.seed_places);
}

/// A work directory on a node's own disk is gone with its job.
bool has_lost_files(const fs::path& attempt,
                    const std::string& stage,
                    const std::vector<spec::MetricSpec>& declared) {
  std::error_code code;
  if (fs::exists(attempt / "work", code)) return false;
  return std::ranges::any_of(declared, [&](const spec::MetricSpec& metric) {
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

  std::vector<std::string> notes;
  // Points from the stage's outputs are of all attempts, and step back at most once for each.
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
    notes.push_back(of_metric(name) + " steps back more often than the stage was taken up again: " +
                    "what was done once more is not known, and counts twice");
  }
  // A later attempt begins cold: speeds are those of the last attempt alone.
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
      notes.push_back("attempt " + files.earlier[i].parent_path().filename().string() +
                      ": its work folder is gone, and what metrics were in files there");
    }
  }
  for (const std::string& name : unplaced) {
    notes.push_back(of_metric(name) +
                    " has values without steps: those of earlier attempts are left out");
  }
  Last last(files.stage, joined, sink);
  collect::Extraction all = collect::extract_all(files, declared, last);
  all.reported.orders.clear();
  for (auto one = extractions.rbegin(); one != extractions.rend(); ++one)
    add_reported(std::move(*one), all);
  all.collected.notes.insert(all.collected.notes.end(), notes.begin(), notes.end());
  return all;
}

}  // namespace sabath::execution
