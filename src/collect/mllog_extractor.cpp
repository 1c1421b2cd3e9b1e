#include "extraction.hpp"
#include "extractors.hpp"
#include "line_reader.hpp"
#include "mllog_line.hpp"
#include "source_files.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sabath::collect {
namespace {

/// More than any code reports; a bound for one that reports nonsense.
constexpr std::size_t max_facts = 1000;

/// Events of one file, in the order of its lines.
class MllogFile {
 public:
  MllogFile(const SourceFile& source,
            const std::vector<const spec::MetricSpec*>& wanted,
            const PointTarget& target)
      : source_(source), target_(target) {
    for (const spec::MetricSpec* metric : wanted)
      names_.emplace(metric->key(), metric->name);
  }

  void read() {
    LineReader reader(source_.path, LineEnd::newline_or_return);
    MllogEvent event;
    while (reader.next()) {
      const auto problem = parse_mllog_line(reader.line(), event);
      if (!problem) continue;
      if (!problem->empty()) {
        note_bad(target_.extraction,
                 {source_.path,
                  reader.number(),
                  reader.is_overlong() ? "is longer than a mebibyte" : *problem});
        continue;
      }
      take(event);
    }
  }

 private:
  void take(const MllogEvent& event) {
    if (event.event_type == "INTERVAL_START") return begin_interval(event);
    if (event.event_type == "INTERVAL_END") return end_interval(event);
    if (event.number) add(event.key, *event.number, event.where);
    if (names_.contains(event.key)) return;
    spec::Collected& collected = target_.extraction.collected;
    if (event.key == "seed") return take_seed(event);
    // What belongs to no epoch and no step is said of the whole run.
    const bool is_of_run = event.where.epoch == base::no_step && event.where.step == base::no_step;
    if (is_of_run && collected.parameters.size() < max_facts) {
      collected.parameters.emplace(event.key, event.value);
    }
  }

  void take_seed(const MllogEvent& event) {
    spec::Collected& collected = target_.extraction.collected;
    if (!collected.seed_places) collected.seed_places.emplace();
    add_once(*collected.seed_places, {event.value, event.file, event.line});
    add_once(collected.seeds, event.value);
  }

  template <class T>
  static void add_once(std::vector<T>& all, const T& one) {
    if (all.size() >= max_facts || std::find(all.begin(), all.end(), one) != all.end()) return;
    all.push_back(one);
  }

  /// "epoch_start" and "epoch_stop" are the interval "epoch".
  static std::string interval_of(const std::string& key, std::string_view ending) {
    return key.ends_with(ending) ? key.substr(0, key.size() - ending.size()) : key;
  }

  void begin_interval(const MllogEvent& event) {
    starts_[interval_of(event.key, "_start")] = event.where.time_s;
  }

  void end_interval(const MllogEvent& event) {
    const std::string interval = interval_of(event.key, "_stop");
    if (!event.status.empty()) {
      target_.extraction.collected.parameters[event.key + ".status"] = event.status;
    }
    const auto start = starts_.find(interval);
    if (start == starts_.end()) return;
    const double seconds = event.where.time_s - start->second;
    starts_.erase(start);
    if (!std::isnan(seconds)) add(interval, seconds, event.where);
  }

  void add(const std::string& key, double value, base::SeriesPoint point) {
    point.rank = source_.rank;
    point.value = value;
    const auto [first, last] = names_.equal_range(key);
    for (auto name = first; name != last; ++name)
      target_.add(name->second, point);
  }

  const SourceFile& source_;
  const PointTarget& target_;
  std::multimap<std::string, std::string> names_{};  ///< of metrics, by key
  std::map<std::string, double> starts_{};           ///< of intervals that are open
};

class MllogExtractor final : public Extractor {
 public:
  spec::SourceKind kind() const override { return spec::SourceKind::mllog; }
  std::string_view description() const override {
    return "MLPerf's :::MLLOG lines: values, lengths of intervals, parameters, seeds";
  }

  Extraction extract(const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink) override {
    return read_each(kind(),
                     files,
                     wanted,
                     sink,
                     [](const auto& source, const auto& metrics, const auto& target) {
                       MllogFile(source, metrics, target).read();
                     });
  }
};

}  // namespace

std::unique_ptr<Extractor> make_mllog_extractor() {
  return std::make_unique<MllogExtractor>();
}

}  // namespace sabath::collect
