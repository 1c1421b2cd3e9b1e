#include "extractors.hpp"
#include "line_reader.hpp"
#include "metric_line.hpp"
#include "repeated_member.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace sabath::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_names = 10'000;

/// What one line of a log of JSON lines, which knows nothing of sabath, says of some metrics.
struct JsonRecord {
  base::SeriesPoint where{};  ///< of the members step, epoch and time
  std::string not_whole{};    ///< a step or epoch that points cannot have
  std::vector<std::pair<const spec::MetricSpec*, base::ExactNumber>> values{};
};

using rapidjson::Value;

const Value* member_of(const Value& object, const std::string& name) {
  const auto found = object.FindMember(
      Value(rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))));
  return found == object.MemberEnd() ? nullptr : &found->value;
}

/// Numbers are read as texts, which lose no digit.
std::string_view text_in(const Value& value) {
  if (!value.IsString()) return {};
  return text_of(value);
}

/// Nobody asked for these: where they are something else, it is not known.
std::int64_t whole_in(const Value& object, const std::string& name, JsonRecord& result) {
  const Value* value = member_of(object, name);
  if (value == nullptr) return base::no_step;
  if (const auto whole = whole_number_of(text_in(*value))) return *whole;
  if (is_not_whole(text_in(*value))) result.not_whole = text_in(*value);
  return base::no_step;
}

/// Reads the members that `wanted` have as keys: numbers, and texts that are numbers. A null has no
/// value. All others may be anything. Returns what is wrong with the line, or an empty text.
std::string parse_json_record(std::string_view line, const Metrics& wanted, JsonRecord& result) {
  result = {};
  // To RapidJSON a NUL byte is the end of the text.
  if (line.find('\0') != std::string_view::npos) return "is not JSON: it has a NUL byte";
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
  document.Parse<flags>(line.data(), line.size());
  if (document.HasParseError())
    return std::string("is not JSON: ") + rapidjson::GetParseError_En(document.GetParseError());
  if (!document.IsObject()) return "is not a JSON object";
  if (auto problem = repeated_among(document, {"step", "epoch", "time"}); !problem.empty())
    return problem;
  result.where.step = whole_in(document, "step", result);
  result.where.epoch = whole_in(document, "epoch", result);
  if (const Value* time = member_of(document, "time"); time != nullptr) {
    if (const auto seconds = seconds_of(text_in(*time))) result.where.time_s = *seconds;
  }
  for (const spec::MetricSpec* metric : wanted) {
    const Value* value = member_of(document, metric->key());
    if (value == nullptr) continue;
    const std::string quoted = "'" + base::printable(metric->key()) + "' ";
    if (is_repeated(document, metric->key())) return quoted + "is there twice";
    if (value->IsNull()) continue;
    const auto number = exact_number_of(text_in(*value));
    if (!number) return quoted + std::string(number_problem(text_in(*value)));
    result.values.emplace_back(metric, *number);
  }
  return {};
}

/// Digest of the order in which samples were taken (docs/commands/run.md). SHA-256 of one line for
/// each id, with "epoch E" before the first of each epoch. Has "order TEXT" for what the code has
/// digested itself.
class SampleHash {
 public:
  void add(const MetricLine& line) {
    if (line.sample_ids.empty() && line.sample_order.empty()) return;
    if (line.where.epoch != base::no_step && epoch_ != line.where.epoch) {
      epoch_ = line.where.epoch;
      hasher_.update("epoch " + std::to_string(*epoch_) + "\n");
    }
    if (!line.sample_order.empty()) {
      only_ = line.sample_order;
      ++orders_;
      hasher_.update("order " + only_ + "\n");
    }
    has_ids_ = has_ids_ || !line.sample_ids.empty();
    hasher_.update(line.sample_ids);
  }
  /// Returns nothing if no line reported an order. A single text of the code's own is the result
  /// itself.
  std::optional<std::string> finish() {
    if (orders_ == 1 && !has_ids_) return only_;
    if (orders_ == 0 && !has_ids_) return std::nullopt;
    return hasher_.finish().text();
  }

 private:
  base::Hasher hasher_{};
  std::optional<std::int64_t> epoch_{};
  std::string only_{};
  bool has_ids_ = false;
  std::uint64_t orders_ = 0;
};

/// The rank in "metrics-<rank>.jsonl", or nothing for another name.
std::optional<std::int32_t> rank_of(const std::string& name) {
  constexpr std::string_view head = "metrics-";
  constexpr std::string_view tail = ".jsonl";
  if (!name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  if (name.size() <= head.size() + tail.size()) return std::nullopt;
  const auto rank = base::number_in<std::int32_t>(
      std::string_view(name).substr(head.size(), name.size() - head.size() - tail.size()));
  return rank && *rank >= 0 ? rank : std::nullopt;
}

/// Joins values that were reported one after another, each once. Cuts long lists, as of a generator
/// that is seeded at each step.
void add_seed(std::string& reported, const std::string& seed) {
  constexpr std::size_t most_bytes = 200;
  constexpr std::string_view cut = "; ...";
  if (reported.empty()) {
    reported = seed;
  } else if (("; " + reported + "; ").find("; " + seed + "; ") == std::string::npos) {
    if (reported.ends_with(cut)) return;
    if (reported.size() + seed.size() > most_bytes) {
      reported += cut;
    } else {
      reported += "; " + seed;
    }
  }
}

/// Empty where the line is short enough to be read.
std::string too_long(const LineReader& reader) {
  if (reader.is_endless()) return "is longer than 64 mebibytes; what follows it was not read";
  return reader.is_overlong() ? "is longer than a mebibyte" : "";
}

/// The files that the ranks append to, by rank.
std::map<std::int32_t, fs::path> rank_files(const fs::path& folder) {
  std::map<std::int32_t, fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const auto rank = rank_of(entry.path().filename().string());
    if (!rank) continue;
    if (!entry.is_regular_file(code)) {
      throw base::Error(base::ErrorKind::usage,
                        entry.path().string() + ": is not a regular file",
                        "the code appends lines to the file that $SABATH_METRICS names");
    }
    files[*rank] = entry.path();
  }
  return files;
}

/// The JSON lines of one stage.
class JsonLines {
 public:
  explicit JsonLines(const std::vector<spec::MetricSpec>& wanted) {
    for (const spec::MetricSpec& metric : wanted) {
      if (!metric.from.file.empty()) elsewhere_.insert(metric.name);
    }
  }

  void read(const SourceFile& source, const PointTarget& target) {
    const fs::path& file = source.path;
    const std::int32_t rank = source.rank;
    LineReader reader(source);
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
      if (parsed.part_epoch)
        not_whole_.add_text(file, reader.number(), fmt::format("{}", *parsed.part_epoch));
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

  /// Reads declared metrics from a file of the code's own. In a log (`is_log`) other
  /// lines stand between, and what looks like JSON need not be any.
  void read_own(const SourceFile& source,
                bool is_log,
                const Metrics& metrics,
                const PointTarget& target) {
    LineReader reader(source);
    JsonRecord record;
    Trouble passed;
    while (reader.next()) {
      const std::string& line = reader.line();
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || (is_log && line[begin] != '{')) continue;
      std::string problem = too_long(reader);
      if (problem.empty()) problem = parse_json_record(line, metrics, record);
      if (!problem.empty()) {
        if (is_log) {
          passed.add(source.path, reader.number(), problem);
        } else {
          note_bad(target.extraction, {source.path, reader.number(), problem});
        }
        continue;
      }
      if (!record.not_whole.empty() && !record.values.empty())
        not_whole_.add_text(source.path, reader.number(), record.not_whole);
      for (const auto& [metric, value] : record.values) {
        base::SeriesPoint point = record.where;
        point.rank = source.rank;
        target.add(metric->name, point, value);
      }
    }
    note_left_out(target.extraction, passed);
  }

  /// Merges equal reports of several ranks into one.
  void report(Extraction& extraction) const {
    note_not_whole(extraction, not_whole_);
    for (const auto& [name, by_rank] : seeds_) {
      const bool is_same = std::ranges::all_of(
          by_rank,
          [&first = by_rank.begin()->second](const auto& one) { return one.second == first; });
      for (const auto& [rank, seed] : by_rank)
        extraction.reported.seeds.insert_or_assign(
            is_same ? name : fmt::format("{}, rank {}", name, rank), seed);
    }
  }

 private:
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
  Trouble not_whole_{};
  std::vector<Names::iterator> shape_{};
  std::map<std::string, std::map<std::int32_t, std::string>>
      seeds_{};  ///< name -> rank -> reported
};

class JsonlExtractor final : public Extractor {
 public:
  JsonlExtractor(const StageFiles& files, std::vector<spec::MetricSpec> wanted)
      : files_(files), wanted_(std::move(wanted)), lines_(wanted_) {}

  void read(const PointTarget& target) override {
    for (const auto& [rank, file] : rank_files(files_.directory)) {
      SourceFile source{file, rank, files_.limits};
      if (target.begin(source, {})) lines_.read(source, target);
    }
    for (const auto& [file, metrics] : by_file(wanted_)) {
      if (file.empty()) continue;
      const bool is_log = file == "stdout" || file == "stderr";
      for (SourceFile& source : source_files(files_, file, target.positions)) {
        if (target.begin(source, file)) lines_.read_own(source, is_log, metrics, target);
      }
    }
    lines_.report(target.extraction);
  }

 private:
  const StageFiles& files_;
  std::vector<spec::MetricSpec> wanted_;
  JsonLines lines_;
};

}  // namespace

std::unique_ptr<Extractor> jsonl_extractor(const StageFiles& files,
                                           std::vector<spec::MetricSpec> wanted) {
  return std::make_unique<JsonlExtractor>(files, std::move(wanted));
}

}  // namespace sabath::collect
