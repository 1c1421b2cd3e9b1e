#include "array_formats.hpp"
#include "file_bytes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/csv.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace sabath::arrays {
namespace {

using base::ArrayInfo;
using base::ArrayType;
using base::csv_cell;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t block_bytes = 1U << 18U;
constexpr std::uint64_t longest_record = 16U << 20U;
constexpr std::uint64_t most_columns = 100'000;
constexpr std::uint64_t buffered_values = 1U << 20U;  ///< of all columns together

/// Returns nothing for other texts, and for whole numbers that a double would change.
std::optional<double> number(std::string_view cell) {
  cell = csv_cell(cell);
  if (base::is_absent_cell(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto value = base::number_in<double>(cell);
  if (!value) return std::nullopt;
  const bool is_whole = cell.find_first_not_of("-0123456789") == std::string_view::npos;
  if (is_whole && std::abs(*value) >= base::first_inexact_whole) return std::nullopt;
  const auto exact = base::exact_decimal(cell, *value);
  return exact && exact->rest == 0 ? value : std::nullopt;
}

/// "007", "-01": identifiers, whose zeros count.
bool has_leading_zeros(std::string_view cell) {
  cell = csv_cell(cell);
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  return cell.size() > 1 && cell[0] == '0' && cell[1] >= '0' && cell[1] <= '9';
}

struct Column {
  std::string name{};
  bool is_number = true;
  bool has_number = false;
};

class CsvFile final : public base::ArraySource {
 public:
  CsvFile(const std::filesystem::path& path, const base::ReadLimits& limits)
      : place_(path.string()), bytes_(path, limits) {
    if (bytes_.text(0, block_bytes).find('\0') != std::string::npos) fail("it is not text");
    look_over();
    spool();
  }

  std::vector<ArrayInfo> list() override {
    std::vector<ArrayInfo> infos;
    for (const auto& [name, column] : places_)
      infos.push_back({name, type_of(columns_[column]), {rows_}, false});
    return infos;
  }

  void read(const ArrayInfo& array,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    const std::size_t column = find(array, first, count);
    if (!columns_[column].is_number || out.size() != count * sizeof(double)) {
      throw Error(ErrorKind::internal, place_ + ": cannot read: the buffer does not fit");
    }
    numbers_.read((column * rows_ + first) * sizeof(double), out);
  }

  std::vector<std::string> read_texts(const ArrayInfo& array,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    const std::size_t column = find(array, first, count);
    if (!texts_ || next_text_ > first) rewind();
    std::vector<std::string> texts;
    std::vector<std::string> fields;
    std::uint64_t length = 0;
    for (; texts.size() < count && length < texts_at_once_bytes; ++next_text_) {
      if (!texts_->next(fields) || fields.size() != columns_.size()) fail("it changes");
      if (next_text_ < first) continue;
      length += fields[column].size();
      texts.push_back(std::move(fields[column]));
    }
    return texts;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::integrity, place_ + ": cannot read as a table: " + why);
  }

  static ArrayType type_of(const Column& column) {
    return column.is_number ? ArrayType::float64 : ArrayType::text;
  }

  std::size_t find(const ArrayInfo& array, std::uint64_t first, std::uint64_t count) const {
    const auto found = places_.find(array.path);
    if (found == places_.end() || first > rows_ || count > rows_ - first) {
      throw Error(ErrorKind::internal, place_ + ":/" + array.path + ": cannot read: no such range");
    }
    return found->second;
  }

  base::CsvReader::More from_begin() {
    return [this, at = std::uint64_t{0}, block = std::string()]() mutable {
      block = bytes_.text(at, block_bytes);
      at += block.size();
      return std::string_view(block);
    };
  }

  void rewind() {
    texts_.emplace(from_begin(), longest_record);
    next_text_ = 0;
    std::vector<std::string> header;
    if (has_header_) texts_->next(header);
  }

  void name_columns(const std::vector<std::string>& header) {
    if (header.size() > most_columns) fail("it has too many columns");
    // A table of bare numbers has no header.
    has_header_ = !std::ranges::all_of(header, [](const std::string& cell) {
      return !base::is_absent_cell(cell) && number(cell).has_value();
    });
    for (std::size_t i = 0; i < header.size(); ++i) {
      std::string name = has_header_ ? std::string(csv_cell(header[i])) : std::string();
      if (name.empty()) name = "column " + std::to_string(i + 1);
      if (places_.contains(name)) name += " (column " + std::to_string(i + 1) + ")";
      if (!places_.emplace(name, i).second) fail("two columns have the name '" + name + "'");
      columns_.push_back({name, true, false});
    }
  }

  void look_over() {
    base::CsvReader records(from_begin(), longest_record);
    for (std::vector<std::string> fields; records.next(fields);) {
      if (!records.problem().empty())
        fail(fmt::format("line {} {}", records.line(), records.problem()));
      if (columns_.empty()) {
        name_columns(fields);
        if (has_header_) continue;
      }
      look_at(fields);
    }
    for (Column& column : columns_)
      column.is_number = column.is_number && column.has_number;
  }

  void look_at(const std::vector<std::string>& fields) {
    ++rows_;
    if (fields.size() != columns_.size()) {
      fail("row " + std::to_string(rows_) + " has " + std::to_string(fields.size()) +
           " cells, the first line has " + std::to_string(columns_.size()));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Column& column = columns_[i];
      if (!column.is_number) continue;
      column.is_number = number(fields[i]).has_value() && !has_leading_zeros(fields[i]);
      column.has_number = column.has_number || !base::is_absent_cell(fields[i]);
    }
  }

  /// Writes the columns of numbers one after the other, as they are read so.
  void spool() {
    if (rows_ == 0) return;
    rewind();
    const std::uint64_t rows_at_once =
        std::max<std::uint64_t>(64, buffered_values / columns_.size());
    std::vector<std::vector<double>> buffers(columns_.size());
    std::vector<std::string> fields;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      if (!texts_->next(fields) || fields.size() != columns_.size()) fail("it changes");
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (columns_[i].is_number) {
          buffers[i].push_back(
              number(fields[i]).value_or(std::numeric_limits<double>::quiet_NaN()));
        }
      }
      if ((row + 1) % rows_at_once == 0 || row + 1 == rows_) flush(buffers, row + 1);
    }
    texts_.reset();
  }

  void flush(std::vector<std::vector<double>>& buffers, std::uint64_t end) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::uint64_t first = i * rows_ + end - buffers[i].size();
      if (!buffers[i].empty()) {
        numbers_.write(first * sizeof(double), std::as_bytes(std::span(buffers[i])));
      }
      buffers[i].clear();
    }
  }

  std::string place_;
  FileBytes bytes_;
  bool has_header_ = false;
  std::uint64_t rows_ = 0;
  std::vector<Column> columns_{};
  std::map<std::string, std::size_t> places_{};
  SpooledBytes numbers_{};
  std::optional<base::CsvReader> texts_{};
  std::uint64_t next_text_ = 0;
};

}  // namespace

Source open_csv(const std::filesystem::path& path, const base::ReadLimits& limits) {
  return std::make_unique<CsvFile>(path, limits);
}

}  // namespace sabath::arrays
