#include "extraction.hpp"
#include "extractors.hpp"
#include "line_reader.hpp"
#include "metric_line.hpp"
#include "sample_hash.hpp"

#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

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

class JsonlExtractor final : public Extractor {
 public:
  spec::SourceKind kind() const override { return spec::SourceKind::jsonl; }
  std::string_view description() const override {
    return "JSON lines that the code appends to $SABATH_METRICS";
  }

  Extraction extract(const StageFiles& stage,
                     const std::vector<spec::MetricSpec>&,
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
    for (const auto& [rank, file] : files) {
      extraction.searched.push_back({kind(), {}, file});
      read(file, rank, {stage.stage, sink, extraction});
    }
    tell_seeds(extraction.reported.seeds);
    return extraction;
  }

 private:
  void read(const fs::path& file, std::int32_t rank, const PointTarget& target) {
    LineReader reader(file);
    MetricLine parsed;
    SampleHash samples;
    while (reader.next()) {
      std::string& line = reader.line();
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      std::string problem =
          reader.is_overlong() ? "is longer than a mebibyte" : parse_metric_line(line, parsed);
      if (problem.empty() && !find_series(parsed, target)) problem = "brings more than 10000 names";
      if (!problem.empty()) {
        note_bad(target.extraction, {file, reader.number(), problem});
        continue;
      }
      if (parsed.has_report) {
        samples.add(parsed);
        for (const auto& [name, seed] : parsed.seeds)
          add_seed(seeds_[name][rank], seed);
      }
      base::SeriesPoint point = parsed.where;
      point.rank = rank;
      for (std::size_t i = 0; i < parsed.values.size(); ++i) {
        point.value = parsed.values[i].second;
        target.sink.add(shape_[i]->second, point);
      }
      target.extraction.points += parsed.values.size();
    }
    if (auto digest = samples.finish())
      target.extraction.reported.orders.push_back({rank, *std::move(digest)});
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
      shape_[i] = names_.emplace(name, target.sink.open(target.stream, name)).first;
    }
    return true;
  }

  using Names = std::map<std::string, base::SeriesId, std::less<>>;
  Names names_{};
  std::vector<Names::iterator> shape_{};
  std::map<std::string, std::map<std::int32_t, std::string>> seeds_{};  ///< name -> rank -> told
};

}  // namespace

std::unique_ptr<Extractor> make_jsonl_extractor() {
  return std::make_unique<JsonlExtractor>();
}

}  // namespace sabath::collect
