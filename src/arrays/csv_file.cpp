#include "array_formats.hpp"
#include "file_bytes.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace sabath::arrays {
namespace {

using base::ArrayInfo;
using base::ArrayType;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t block_bytes = 1U << 18U;
constexpr std::uint64_t longest_record = 16U << 20U;
constexpr std::uint64_t most_columns = 100'000;
constexpr std::uint64_t buffered_values = 1U << 20U;  ///< of all columns together
constexpr double largest_whole = 9007199254740992.0;  ///< 2^53: beyond it a double loses digits

/// Gives the records of a table one after the other: RFC 4180, with LF or CRLF.
class Records {
 public:
  Records(ByteSource& bytes, char separator, std::uint64_t at)
      : bytes_(bytes), separator_(separator), next_(at) {}

  /// Fills `fields`; false at the end. Empty lines are no records.
  bool next(std::vector<std::string>& fields) {
    do {
      fields.assign(1, {});
      if (!read_record(fields)) return false;
    } while (fields.size() == 1 && fields.front().empty());
    return true;
  }
  /// Did they end at a quote that is not closed, or at a line that is too long?
  bool is_broken() const noexcept { return is_broken_; }

 private:
  bool read_record(std::vector<std::string>& fields) {
    std::uint64_t length = 0;
    is_quoted_ = false;
    for (int c = get(); c >= 0; c = get()) {
      if (++length > longest_record) is_broken_ = true;
      if (is_broken_) return false;
      if (c == '"' && is_quoted_ && peek() == '"') {
        fields.back() += static_cast<char>(get());
      } else if (c == '"') {
        is_quoted_ = !is_quoted_;
      } else if (c == '\n' && !is_quoted_) {
        break;
      } else if (c == separator_ && !is_quoted_) {
        fields.emplace_back();
      } else {
        fields.back() += static_cast<char>(c);
      }
    }
    is_broken_ = is_broken_ || is_quoted_;
    if (fields.back().ends_with('\r')) fields.back().pop_back();
    return length > 0 || at_ < block_.size() || next_ < bytes_.size();
  }

  int peek() {
    if (at_ == block_.size()) {
      block_ = bytes_.text(next_, block_bytes);
      next_ += block_.size();
      at_ = 0;
    }
    return at_ == block_.size() ? -1 : static_cast<unsigned char>(block_[at_]);
  }
  int get() {
    const int c = peek();
    if (c >= 0) ++at_;
    return c;
  }

  ByteSource& bytes_;
  char separator_;
  std::uint64_t next_;  ///< where the block after this one begins
  std::string block_{};
  std::size_t at_ = 0;
  bool is_quoted_ = false;
  bool is_broken_ = false;
};

std::string_view trimmed(std::string_view cell) {
  const auto first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
}

bool is_absent(std::string_view cell) {
  return cell.empty() || cell == "NA";
}

/// Nothing for what is no number, and for whole numbers that a double would change.
std::optional<double> number(std::string_view cell) {
  cell = trimmed(cell);
  if (is_absent(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range) return std::nullopt;
  const bool is_whole = cell.find_first_not_of("-0123456789") == std::string_view::npos;
  if (is_whole && std::abs(value) > largest_whole) return std::nullopt;
  return value;
}

char separator_of(std::string_view header) {
  for (const char c : {',', ';', '\t'}) {
    if (header.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

struct Column {
  std::string name{};
  bool is_number = true;
  bool has_number = false;
};

class CsvFile final : public base::ArraySource {
 public:
  explicit CsvFile(const std::filesystem::path& path) : place_(path.string()), bytes_(path) {
    begin_ = bytes_.text(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
    std::string line = bytes_.text(begin_, block_bytes);
    if (line.find('\0') != std::string::npos) fail("it is not text");
    separator_ = separator_of(line.substr(0, line.find('\n')));
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

  /// Where the records begin, behind the header if there is one.
  void rewind() {
    texts_.emplace(bytes_, separator_, begin_);
    next_text_ = 0;
    std::vector<std::string> header;
    if (has_header_) texts_->next(header);
  }

  void name_columns(const std::vector<std::string>& header) {
    if (header.size() > most_columns) fail("it has too many columns");
    // A table of bare numbers has no header.
    has_header_ = !std::all_of(header.begin(), header.end(), [](const std::string& cell) {
      return !is_absent(trimmed(cell)) && number(cell).has_value();
    });
    for (std::size_t i = 0; i < header.size(); ++i) {
      std::string name = has_header_ ? std::string(trimmed(header[i])) : std::string();
      if (name.empty()) name = "column " + std::to_string(i + 1);
      if (places_.contains(name)) name += " (column " + std::to_string(i + 1) + ")";
      if (!places_.emplace(name, i).second) fail("two columns have the name '" + name + "'");
      columns_.push_back({name, true, false});
    }
  }

  /// Counts rows and finds out which columns are numbers.
  void look_over() {
    Records records(bytes_, separator_, begin_);
    std::vector<std::string> fields;
    if (!records.next(fields)) return;
    name_columns(fields);
    if (!has_header_) look_at(fields);
    while (records.next(fields))
      look_at(fields);
    if (records.is_broken()) fail("a quote is not closed, or a line is too long");
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
      const auto value = number(fields[i]);
      column.is_number = value.has_value();
      column.has_number = column.has_number || !is_absent(trimmed(fields[i]));
    }
  }

  /// Writes the columns of numbers one behind the other, since that is how they are asked for.
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
  std::uint64_t begin_ = 0;
  char separator_ = ',';
  bool has_header_ = false;
  std::uint64_t rows_ = 0;
  std::vector<Column> columns_{};
  std::map<std::string, std::size_t> places_{};
  SpooledBytes numbers_{};
  std::optional<Records> texts_{};
  std::uint64_t next_text_ = 0;
};

}  // namespace

std::unique_ptr<base::ArraySource> open_csv(const std::filesystem::path& path) {
  return std::make_unique<CsvFile>(path);
}

}  // namespace sabath::arrays
