#include "jsonl_extractor.hpp"

#include "metric_line.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace sabath::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_line_bytes = 1U << 20U;
constexpr std::size_t max_examples = 10;
constexpr std::size_t max_names = 10'000;

/// Lines of a file with bounded memory: of a line that is too long only the beginning is kept.
class LineReader {
 public:
  explicit LineReader(const fs::path& path) : stream_(path, std::ios::binary) {
    if (!stream_) base::throw_errno(path.string(), "cannot read", errno);
  }

  /// False at the end. `overlong` tells that the line was cut.
  bool next(std::string& line, bool& overlong) {
    line.clear();
    overlong = false;
    bool any = false;
    while (true) {
      if (at_ == filled_ && !refill()) return any;
      any = true;
      const char* begin = buffer_.data() + at_;
      const char* end = buffer_.data() + filled_;
      const char* newline = std::find(begin, end, '\n');
      const auto length = static_cast<std::size_t>(newline - begin);
      const std::size_t room = max_line_bytes - line.size();
      line.append(begin, std::min(length, room));
      overlong = overlong || length > room;
      at_ += length;
      if (newline == end) continue;
      ++at_;
      return true;
    }
  }

 private:
  bool refill() {
    stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    filled_ = static_cast<std::size_t>(stream_.gcount());
    at_ = 0;
    return filled_ > 0;
  }

  std::ifstream stream_;
  std::vector<char> buffer_ = std::vector<char>(1U << 18U);
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

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

class JsonlExtractor final : public Extractor {
 public:
  std::string_view name() const override { return "jsonl"; }
  std::string_view description() const override {
    return "JSON lines that the code appends to $SABATH_METRICS";
  }

  Extraction extract(const fs::path& stage_directory,
                     std::string_view stage,
                     base::SeriesSink& sink) override {
    std::map<std::int32_t, fs::path> files;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(stage_directory, code)) {
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
    names_.clear();
    for (const auto& [rank, file] : files)
      read(file, rank, stage, sink, extraction);
    return extraction;
  }

 private:
  void read(const fs::path& file,
            std::int32_t rank,
            std::string_view stage,
            base::SeriesSink& sink,
            Extraction& extraction) {
    LineReader reader(file);
    std::string line;
    MetricLine parsed;
    bool overlong = false;
    for (std::uint64_t number = 1; reader.next(line, overlong); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      std::string problem =
          overlong ? "is longer than a mebibyte" : parse_metric_line(line, parsed);
      if (problem.empty() && !all_names_known(parsed)) problem = "brings more than 10000 names";
      if (!problem.empty()) {
        note_bad(extraction, {file, number, problem});
        continue;
      }
      base::SeriesPoint point = parsed.where;
      point.rank = rank;
      for (const auto& [metric, value] : parsed.values) {
        point.value = value;
        sink.add(stage, metric, point);
        ++extraction.points;
      }
    }
  }

  /// Bounds the number of distinct names, lest a mistake (a name with a counter in it) takes all
  /// memory.
  bool all_names_known(const MetricLine& parsed) {
    for (const auto& [metric, value] : parsed.values) {
      if (names_.contains(metric)) continue;
      if (names_.size() >= max_names) return false;
      names_.insert(metric);
    }
    return true;
  }

  static void note_bad(Extraction& extraction, BadLine line) {
    ++extraction.bad_lines;
    if (extraction.examples.size() < max_examples) extraction.examples.push_back(std::move(line));
  }

  std::set<std::string, std::less<>> names_;
};

}  // namespace

std::unique_ptr<Extractor> make_jsonl_extractor() {
  return std::make_unique<JsonlExtractor>();
}

}  // namespace sabath::collect
