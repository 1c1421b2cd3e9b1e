#include "extractors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/csv.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <utility>

namespace sabath::collect {
namespace {

constexpr std::uint64_t longest_record = 1U << 20U;

/// Where the columns that count stand in a table.
struct Columns {
  std::vector<std::pair<std::string, std::size_t>> metrics{};
  std::optional<std::size_t> epoch{};
  std::optional<std::size_t> step{};
  std::optional<std::size_t> time{};
};

/// Sets `problem` if a column that counts is there twice.
Columns columns_of(const std::vector<std::string>& header,
                   const Metrics& wanted,
                   std::string& problem) {
  const auto index_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto is_it = [&](std::string_view cell) { return base::csv_cell(cell) == name; };
    const auto found = std::ranges::find_if(header, is_it);
    if (found == header.end()) return std::nullopt;
    if (problem.empty() && std::find_if(found + 1, header.end(), is_it) != header.end())
      problem = "has the column '" + base::printable(name) + "' twice; its rows were not read";
    return static_cast<std::size_t>(found - header.begin());
  };
  Columns columns;
  for (const spec::MetricSpec* metric : wanted) {
    if (const auto index = index_of(metric->key()))
      columns.metrics.emplace_back(metric->name, *index);
  }
  columns.epoch = index_of("epoch");
  columns.step = index_of("step");
  columns.time = index_of("time");
  return columns;
}

void note_columns(const SourceFile& source,
                  const std::vector<std::string>& header,
                  const PointTarget& target) {
  constexpr std::size_t max_shown = 300;
  std::string names = fmt::format("{}", fmt::join(header, ", "));
  if (names.size() > max_shown) names = names.substr(0, max_shown) + " ...";
  target.extraction.collected.notes.push_back(base::printable(
      source.path.filename().string() + " has not all of the columns; it has " + names));
}

/// All of a row or nothing of it. Returns what is wrong.
std::string read_row(const Columns& columns,
                     const std::vector<std::string>& row,
                     std::int32_t rank,
                     const PointTarget& target) {
  base::SeriesPoint point;
  point.rank = rank;
  std::string problem;
  const auto read = [&](std::optional<std::size_t> column, auto parse, auto& member) {
    if (!column || base::is_absent_cell(row[*column])) return false;
    const auto value = parse(row[*column]);
    if (value) member = *value;
    if (!value && problem.empty()) {
      problem = "has '" + base::printable(row[*column].substr(0, 60)) + "', which " +
                std::string(number_problem(row[*column]));
    }
    return value.has_value();
  };
  const auto number = [](std::string_view text) { return exact_number_of(text); };
  read(columns.epoch, whole_number_of, point.epoch);
  read(columns.step, whole_number_of, point.step);
  read(columns.time, seconds_of, point.time_s);
  problem.clear();  // nobody asked for these: where they are something else, it is not known
  std::vector<std::pair<const std::string*, base::ExactNumber>> values;
  for (const auto& [metric, column] : columns.metrics) {
    base::ExactNumber value;
    if (read(column, number, value)) values.emplace_back(&metric, value);
  }
  if (!problem.empty()) return problem;
  for (const auto& [metric, value] : values) {
    target.add(*metric, point, value);
  }
  return {};
}

/// Points cannot have an epoch or step that is not whole.
void add_not_whole(const Columns& columns,
                   const std::vector<std::string>& row,
                   const std::filesystem::path& file,
                   std::uint64_t line,
                   Trouble& not_whole) {
  for (const auto& column : {columns.epoch, columns.step}) {
    if (!column || !is_not_whole(row[*column])) continue;
    not_whole.add_text(file, line, row[*column]);
    return;
  }
}

/// Bytes of a table. Of one that grows: its header again, then the complete lines that are new. A
/// line that ends within quotes is then read as if the record ended there.
class TableBytes {
 public:
  explicit TableBytes(const SourceFile& source)
      : source_(source), file_(source.path, std::ios::binary), block_(1U << 18U) {
    if (!file_) base::throw_errno(source.path.string(), "cannot read", errno);
    if (source.position == nullptr) return;
    rest_ = source.position->header;
    file_.seekg(static_cast<std::streamoff>(source.position->offset));
  }

  /// Returns the next bytes, which hold until the next call; empty at the end.
  std::string_view more() {
    if (!rest_.empty()) return std::exchange(rest_, {});
    source_.limits.check(source_.path.string());
    // What follows the last end of a line, and is shorter than a block, is read again.
    std::rotate(
        block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(passed_), block_.end());
    const std::size_t kept = std::exchange(filled_, 0) - passed_;
    file_.read(block_.data() + kept, static_cast<std::streamsize>(block_.size() - kept));
    if (file_.bad()) base::throw_errno(source_.path.string(), "cannot read", errno);
    filled_ = kept + static_cast<std::size_t>(file_.gcount());
    passed_ = filled_;
    FilePosition* position = source_.position;
    const std::string_view text(block_.data(), filled_);
    if (position == nullptr) return text;
    const bool is_full = filled_ == block_.size();
    if (const std::size_t end = text.rfind('\n'); end != std::string_view::npos || !is_full)
      passed_ = end == std::string_view::npos ? 0 : end + 1;
    position->offset += passed_;
    position->number += static_cast<std::uint64_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(passed_), '\n'));
    keep_header(text.substr(0, passed_), position->header);
    return text.substr(0, passed_);
  }

 private:
  /// The first line that has text.
  static void keep_header(std::string_view text, std::string& header) {
    if (!header.empty()) return;
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return;
    header = text.substr(0, text.find('\n', begin) + 1);
  }

  const SourceFile& source_;
  std::ifstream file_;
  std::vector<char> block_;
  std::size_t filled_ = 0;
  std::size_t passed_ = 0;  ///< of the block: bytes that were returned
  std::string_view rest_{};
};

void read_table(const SourceFile& source, const Metrics& wanted, const PointTarget& target) {
  TableBytes bytes(source);
  base::CsvReader table([&] { return bytes.more(); }, longest_record);
  std::optional<Columns> columns;
  Trouble not_whole;
  std::vector<std::string> header;
  for (std::vector<std::string> fields; table.next(fields);) {
    std::string problem(table.problem());
    if (problem.empty() && !columns) {
      header = fields;
      columns = columns_of(header, wanted, problem);
      if (!problem.empty())
        return note_bad(target.extraction, {source.path, table.line(), problem});
      if (columns->metrics.size() < wanted.size()) note_columns(source, header, target);
    } else if (problem.empty() && fields != header) {  // what appends may write it again
      problem =
          fields.size() == header.size()
              ? read_row(*columns, fields, source.rank, target)
              : fmt::format("has {} columns, the header has {}", fields.size(), header.size());
      if (problem.empty()) add_not_whole(*columns, fields, source.path, table.line(), not_whole);
    }
    if (!problem.empty()) note_bad(target.extraction, {source.path, table.line(), problem});
  }
  note_not_whole(target.extraction, not_whole);
}

class CsvExtractor final : public Extractor {
 public:
  CsvExtractor(const StageFiles& files, std::vector<spec::MetricSpec> wanted)
      : files_(files), wanted_(std::move(wanted)) {}

  void read(const PointTarget& target) override {
    for (const auto& [file, metrics] : by_file(wanted_)) {
      for (SourceFile& source : source_files(files_, file, target.positions)) {
        if (target.begin(source, file)) read_table(source, metrics, target);
      }
    }
  }

 private:
  const StageFiles& files_;
  std::vector<spec::MetricSpec> wanted_;
};

}  // namespace

std::unique_ptr<Extractor> csv_extractor(const StageFiles& files,
                                         std::vector<spec::MetricSpec> wanted) {
  return std::make_unique<CsvExtractor>(files, std::move(wanted));
}

}  // namespace sabath::collect
