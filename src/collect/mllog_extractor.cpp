#include "extractors.hpp"
#include "line_reader.hpp"
#include "mllog_line.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>

namespace sabath::collect {
namespace {

/// More than any code reports; a bound for one that reports nonsense.
constexpr std::size_t max_facts = 1000;

/// Whether the beginning of a log, which nobody asked to be searched, has an event.
bool has_events(const std::filesystem::path& path) {
  std::string begin(std::size_t{1} << 20U, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  MllogEvent event;
  for (std::size_t at = begin.find(mllog_marker); at != std::string::npos;
       at = begin.find(mllog_marker, at + mllog_marker.size())) {
    const std::size_t end = begin.find_first_of("\r\n", at);
    if (parse_mllog_line(std::string_view(begin).substr(at, end - at), event) == std::string())
      return true;
  }
  return false;
}

/// Events of one file, in the order of its lines.
class MllogFile {
 public:
  /// `taken`: keys that metrics of any file have. Of all others values are taken under their own
  /// name; of none without it.
  MllogFile(const SourceFile& source,
            const Metrics& wanted,
            const std::set<std::string>* taken,
            const PointTarget& target)
      : source_{source.path, source.rank, source.limits},
        is_wanted_(!wanted.empty()),
        taken_(taken),
        target_(target) {
    for (const spec::MetricSpec* metric : wanted)
      names_.emplace(metric->key(), metric->name);
  }

  /// `position`: nullptr if the file is complete.
  void read(FilePosition* position) {
    source_.position = position;
    LineReader reader(source_, LineEnd::newline_or_return);
    MllogEvent event;
    while (reader.next()) {
      const auto problem = parse_mllog_line(reader.line(), event);
      if (!problem) continue;
      line_ = reader.number();
      if (problem->empty()) {
        take(event);
      } else {
        bad(reader.is_overlong() ? "is longer than a mebibyte" : *problem);
      }
    }
    report();
  }

 private:
  /// Such a line of a log that was not declared may be anything: only report it.
  void bad(const std::string& problem) {
    if (is_wanted_) return note_bad(target_.extraction, {source_.path, line_, problem});
    not_events_.add(source_.path, line_, problem);
  }

  void report() const {
    note_not_whole(target_.extraction, not_whole_);
    if (not_numbers_.count > 0) {
      note_once(not_numbers_.first + " is not a number (" + std::to_string(not_numbers_.count) +
                " such event(s), left out)");
    }
    note_left_out(target_.extraction, not_events_);
  }

  void take(const MllogEvent& event) {
    if (!event.not_whole.empty()) not_whole_.add_text(source_.path, line_, event.not_whole);
    if (event.event_type == "INTERVAL_START") return begin_interval(event);
    if (event.event_type == "INTERVAL_END") return end_interval(event);
    if (!event.too_long.empty() &&
        (names_.contains(event.key) || names_.contains(event.too_long))) {
      return bad("'" + event.too_long + "' has more digits than can be kept");
    }
    if (event.number) add(event.key, *event.number, event);
    for (const auto& [name, value] : event.members)
      add(name, value, event);
    const bool is_text = !event.number && event.members.empty() && !event.value.empty();
    if (names_.contains(event.key)) {
      if (is_text) add_not_number(event, "of a metric");
      return;
    }
    if (event.key == "seed") return take_seed(event);
    // What belongs to no epoch and no step is said of the whole run.
    const bool is_of_run = event.where.epoch == base::no_step &&
                           event.where.step == base::no_step && event.not_whole.empty();
    if (is_of_run) return take_parameter(event);
    if (event.number) add_undeclared(event.key, event.key, *event.number, event);
    for (const auto& [name, value] : event.members) {
      if (!has_room(members_, name)) continue;
      const auto owner = members_.try_emplace(name, event.key).first;
      const bool is_taken = owner->second != event.key;
      add_undeclared(name, is_taken ? event.key + "." + name : name, value, event);
    }
    if (is_text) add_not_number(event, "of an epoch or step");
  }

  void add_not_number(const MllogEvent& event, std::string_view what) {
    not_numbers_.add(source_.path, line_, "'" + event.key + "' " + std::string(what));
  }

  /// Keeps the first of several reports.
  void take_parameter(const MllogEvent& event) {
    spec::Collected& collected = target_.extraction.collected;
    if (!has_room(collected.parameters, event.key)) return;
    const auto known = collected.parameters.emplace(event.key, event.value).first;
    if (known->second == event.value || !told_.insert(event.key).second) return;
    note_once(here() + "'" + base::printable(event.key) +
              "' is reported again with another value; the first is kept");
  }

  /// A file may be read for several sources.
  void note_once(const std::string& note) const {
    add_once(target_.extraction.collected.notes, note);
  }

  std::string here() const {
    return base::printable(source_.path.filename().string()) + ":" + std::to_string(line_) + ": ";
  }

  void take_seed(const MllogEvent& event) {
    spec::Collected& collected = target_.extraction.collected;
    if (!collected.seed_places) collected.seed_places.emplace();
    add_once(*collected.seed_places, {event.value, event.file, event.line});
    add_once(collected.seeds, event.value);
  }

  template <class T>
  static bool has_room(const std::map<std::string, T>& all, const std::string& key) {
    return all.size() < max_facts || all.contains(key);
  }

  template <class T>
  static void add_once(std::vector<T>& all, const T& one) {
    if (all.size() >= max_facts || std::ranges::find(all, one) != all.end()) return;
    all.push_back(one);
  }

  /// "epoch_start" and "epoch_stop" are the interval "epoch".
  static std::string interval_of(const std::string& key, std::string_view ending) {
    return key.ends_with(ending) ? key.substr(0, key.size() - ending.size()) : key;
  }

  void begin_interval(const MllogEvent& event) {
    const double time_s = event.where.time_s;
    const std::string interval = interval_of(event.key, "_start");
    if (has_room(starts_, interval)) starts_[interval] = time_s;
    auto& start_s = target_.extraction.start_s;
    if (event.key == "run_start" && (!start_s || time_s < *start_s) && !std::isnan(time_s))
      start_s = time_s;
  }

  void end_interval(const MllogEvent& event) {
    const std::string interval = interval_of(event.key, "_stop");
    auto& parameters = target_.extraction.collected.parameters;
    if (const std::string key = event.key + ".status";
        !event.status.empty() && has_room(parameters, key)) {
      parameters[key] = event.status;
    }
    if (event.key == "run_stop" && !event.status.empty() && event.status != "success") {
      note_once(here() + "the code ended its run with status '" + base::printable(event.status) +
                "'");
    }
    const auto start = starts_.find(interval);
    if (start == starts_.end()) return;
    const double seconds = event.where.time_s - start->second;
    starts_.erase(start);
    if (std::isnan(seconds)) return;
    add(interval, base::ExactNumber{seconds}, event);
    add_undeclared(
        interval, spec::seconds_of_interval(interval), base::ExactNumber{seconds}, event);
  }

  /// Under `name`, unless a metric is declared for the key. A bound for codes whose keys never end.
  void add_undeclared(const std::string& key,
                      const std::string& name,
                      const base::ExactNumber& value,
                      const MllogEvent& event) {
    if (taken_ == nullptr || name.empty() || taken_->contains(key)) return;
    if (own_.size() >= max_facts && !own_.contains(name)) return;
    own_.insert(name);
    put(name, value, event);
  }

  void add(const std::string& key, const base::ExactNumber& value, const MllogEvent& event) {
    const auto [first, last] = names_.equal_range(key);
    for (auto name = first; name != last; ++name)
      put(name->second, value, event);
  }

  void put(const std::string& name, const base::ExactNumber& value, const MllogEvent& event) {
    base::SeriesPoint point = event.where;
    point.rank = source_.rank;
    if (point.step != base::no_step) {
      auto& measures = target_.extraction.counts_samples;
      const auto measure = measures.try_emplace(name, event.counts_samples).first;
      // Steps and samples of one series cannot be distinguished.
      if (measure->second != event.counts_samples) point.step = base::no_step;
    }
    target_.add(name, point, value);
  }

  SourceFile source_;
  bool is_wanted_;
  const std::set<std::string>* taken_;
  const PointTarget& target_;
  std::multimap<std::string, std::string> names_{};  ///< of metrics, by key
  std::map<std::string, double> starts_{};           ///< of intervals that are open
  std::set<std::string> own_{};                      ///< names of what nobody declared
  std::map<std::string, std::string> members_{};     ///< of objects: the key that had one first
  std::set<std::string> told_{};                     ///< parameters with several values
  std::uint64_t line_ = 0;
  Trouble not_whole_{};
  Trouble not_numbers_{};
  Trouble not_events_{};
};

class MllogExtractor final : public Extractor {
 public:
  MllogExtractor(const StageFiles& files, std::vector<spec::MetricSpec> wanted)
      : files_(files), wanted_(std::move(wanted)), metrics_(by_file(wanted_)) {
    for (const spec::MetricSpec& metric : wanted_)
      taken_.insert(metric.key());
    metrics_.try_emplace(std::string());  // both logs, first
  }

  void read(const PointTarget& target) override {
    for (const auto& [file, metrics] : metrics_) {
      for (SourceFile& source : source_files(files_, file, target.positions)) {
        const auto key = std::pair(file, source.path);
        auto known = files_read_.find(key);
        if (known == files_read_.end() && metrics.empty() && !has_events(source.path)) continue;
        if (!target.begin(source, file)) continue;
        if (known == files_read_.end()) {
          // Undeclared metrics are read once, even if several searches read the file.
          const auto* taken = seen_.insert(source.path).second ? &taken_ : nullptr;
          known = files_read_.try_emplace(key, source, metrics, taken, target).first;
        }
        known->second.read(source.position);
      }
    }
  }

 private:
  const StageFiles& files_;
  std::vector<spec::MetricSpec> wanted_;
  std::map<std::string, Metrics> metrics_;
  std::set<std::string> taken_{};
  std::set<std::filesystem::path> seen_{};
  std::map<std::pair<std::string, std::filesystem::path>, MllogFile> files_read_{};
};

}  // namespace

std::unique_ptr<Extractor> mllog_extractor(const StageFiles& files,
                                           std::vector<spec::MetricSpec> wanted) {
  return std::make_unique<MllogExtractor>(files, std::move(wanted));
}

}  // namespace sabath::collect
