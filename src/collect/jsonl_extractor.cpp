#include "extraction.hpp"
#include "extractors.hpp"
#include "json_record.hpp"
#include "line_reader.hpp"
#include "metric_line.hpp"
#include "sample_hash.hpp"
#include "source_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace sabath::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_names = 10'000;

/// The rank in "metrics-<rank>.jsonl", or nothing for another name.
std::optional<std::int32_t> rank_of(const std::string& name) {
  constexpr std::string_view head = "metrics-";
  constexpr std::string_view tail = ".jsonl";
  if (!name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  if (name.size() <= head.size() + tail.size()) return std::nullopt;
  std::int32_t rank = 0;
  const char* begin = name.data() + head.size();
  const char* end = name.data() + name.size() - tail.size();
  const auto [stop, error] = std::from_chars(begin, end, rank);
  if (error != std::errc{} || stop != end || rank < 0) return std::nullopt;
  return rank;
}

/// Values that were told one after another stand beside one another, each once. What is seeded at
/// each step is cut.
void add_seed(std::string& told, const std::string& seed) {
  constexpr std::size_t most_bytes = 200;
  constexpr std::string_view cut = "; ...";
  if (told.empty()) {
    told = seed;
  } else if (("; " + told + "; ").find("; " + seed + "; ") == std::string::npos) {
    if (told.ends_with(cut)) return;
    if (told.size() + seed.size() > most_bytes) {
      told += cut;
    } else {
      told += "; " + seed;
    }
  }
}

/// Empty where the line is short enough to be read.
std::string too_long(const LineReader& reader) {
  if (reader.is_endless()) return "is longer than 64 mebibytes; what follows it was not read";
  return reader.is_overlong() ? "is longer than a mebibyte" : "";
}

class JsonlExtractor final : public Extractor {
 public:
  spec::SourceKind kind() const override { return spec::SourceKind::jsonl; }
  std::string_view description() const override {
    return "JSON lines that the code appends to $SABATH_METRICS, or writes to files of its own";
  }

  Extraction extract(const StageFiles& stage,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink) override {
    std::map<std::int32_t, fs::path> files;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(stage.directory, code)) {
      const auto rank = rank_of(entry.path().filename().string());
      if (!rank) continue;
      if (!entry.is_regular_file(code)) {
        throw base::Error(base::ErrorKind::usage,
                          entry.path().string() + ": is not a regular file",
                          "the code appends lines to the file that $SABATH_METRICS names");
      }
      files[*rank] = entry.path();
    }
    Extraction extraction;
    shape_.clear();
    names_.clear();
    seeds_.clear();
    not_whole_ = {};
    elsewhere_.clear();
    for (const spec::MetricSpec& metric : wanted) {
      if (!metric.from.file.empty()) elsewhere_.insert(metric.name);
    }
    const PointTarget target{stage.stage, sink, extraction};
    for (const auto& [rank, file] : files) {
      extraction.searched.push_back({kind(), {}, file});
      read({file, rank, stage.limits}, target);
    }
    for (const auto& [file, metrics] : by_file(wanted)) {
      if (file.empty()) continue;
      for (const SourceFile& source : source_files(stage, file)) {
        extraction.searched.push_back({kind(), file, source.path});
        read_own(source, file == "stdout" || file == "stderr", metrics, target);
      }
    }
    not_whole_.tell(extraction.collected.notes);
    tell_seeds(extraction.reported.seeds);
    return extraction;
  }

 private:
  void read(const SourceFile& source, const PointTarget& target) {
    const auto& [file, rank, limits] = source;
    LineReader reader(file, LineEnd::newline, limits);
    MetricLine parsed;
    SampleHash samples;
    while (reader.next()) {
      std::string& line = reader.line();
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      std::string problem = too_long(reader);
      if (problem.empty()) problem = parse_metric_line(line, parsed);
      if (problem.empty() && !find_series(parsed, target)) problem = "brings more than 10000 names";
      if (!problem.empty()) {
        note_bad(target.extraction, {file, reader.number(), problem});
        continue;
      }
      if (parsed.part_epoch) not_whole_.add(file, reader.number(), *parsed.part_epoch);
      if (parsed.has_report) {
        samples.add(parsed);
        for (const auto& [name, seed] : parsed.seeds)
          add_seed(seeds_[name][rank], seed);
      }
      base::SeriesPoint point = parsed.where;
      point.rank = rank;
      for (std::size_t i = 0; i < parsed.values.size(); ++i) {
        if (shape_[i]->second == from_elsewhere) continue;
        point.value = parsed.values[i].second.value;
        point.rest = parsed.values[i].second.rest;
        target.sink.add(shape_[i]->second, point);
        ++target.extraction.points;
      }
    }
    if (auto digest = samples.finish())
      target.extraction.reported.orders.push_back({rank, *std::move(digest)});
  }

  /// A file of the code's own, of which only what is declared is read. In a log (`is_log`) other
  /// lines stand between, and what looks like JSON need not be any.
  void read_own(const SourceFile& source,
                bool is_log,
                const std::vector<const spec::MetricSpec*>& metrics,
                const PointTarget& target) {
    LineReader reader(source.path, LineEnd::newline, source.limits);
    JsonRecord record;
    std::uint64_t passed = 0;
    std::string first_passed;
    while (reader.next()) {
      const std::string& line = reader.line();
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || (is_log && line[begin] != '{')) continue;
      std::string problem = too_long(reader);
      if (problem.empty()) problem = parse_json_record(line, metrics, record);
      if (!problem.empty() && is_log && ++passed == 1)
        first_passed = std::to_string(reader.number()) + ": " + problem;
      if (!problem.empty()) {
        if (!is_log) note_bad(target.extraction, {source.path, reader.number(), problem});
        continue;
      }
      if (record.not_whole && !record.values.empty())
        not_whole_.add(source.path, reader.number(), *record.not_whole);
      for (const auto& [metric, value] : record.values) {
        base::SeriesPoint point = record.where;
        point.rank = source.rank;
        target.add(metric->name, point, value);
      }
    }
    if (passed == 0) return;
    target.extraction.collected.notes.push_back(
        base::printable(source.path.filename().string() + ":" + first_passed) + " (" +
        std::to_string(passed) + " such line(s), left out)");
  }

  /// What several ranks tell alike is told once.
  void tell_seeds(std::map<std::string, std::string>& told) const {
    for (const auto& [name, by_rank] : seeds_) {
      const bool is_same = std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& one) {
        return one.second == by_rank.begin()->second;
      });
      for (const auto& [rank, seed] : by_rank)
        told.insert_or_assign(is_same ? name : fmt::format("{}, rank {}", name, rank), seed);
    }
  }

  /// Puts the series of a line's values into `shape_`: most lines have the names of the line
  /// before. Bounds the number of distinct names, lest a mistake (a name with a counter in it)
  /// takes all memory; false for a line that brings too many.
  bool find_series(const MetricLine& parsed, const PointTarget& target) {
    shape_.resize(parsed.values.size(), names_.end());
    for (std::size_t i = 0; i < parsed.values.size(); ++i) {
      const std::string_view name = parsed.values[i].first;
      if (shape_[i] != names_.end() && shape_[i]->first == name) continue;
      shape_[i] = names_.find(name);
      if (shape_[i] != names_.end()) continue;
      if (names_.size() >= max_names) return false;
      const bool is_elsewhere = elsewhere_.contains(name);
      shape_[i] =
          names_
              .emplace(name, is_elsewhere ? from_elsewhere : target.sink.open(target.stream, name))
              .first;
    }
    return true;
  }

  using Names = std::map<std::string, base::SeriesId, std::less<>>;
  static constexpr base::SeriesId from_elsewhere{std::numeric_limits<std::size_t>::max() - 1};
  Names names_{};
  std::set<std::string, std::less<>> elsewhere_{};  ///< names that are declared with a file
  NotWhole not_whole_{};
  std::vector<Names::iterator> shape_{};
  std::map<std::string, std::map<std::int32_t, std::string>> seeds_{};  ///< name -> rank -> told
};

}  // namespace

std::unique_ptr<Extractor> make_jsonl_extractor() {
  return std::make_unique<JsonlExtractor>();
}

}  // namespace sabath::collect
