#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Reader of CSV text (RFC 4180, with the liberties that Python and R take), record by record.
/// Lines end with LF or CRLF. A quote counts only at the beginning of a field; text behind the
/// closing quote belongs to the field. Lines of blanks and a byte order mark are skipped. The
/// separator is the first comma, semicolon or tab outside of quotes in the first record.
class CsvReader {
 public:
  /// Returns the next bytes, valid until the next call; empty at the end.
  using More = std::function<std::string_view()>;

  CsvReader(More more, std::uint64_t longest_record);
  ~CsvReader() = default;
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  /// Returns false at the end. The fields of a record with a `problem()` are not usable. If its
  /// quote never ends or it is too long, only its first line is skipped: each further line is read
  /// as a record of its own.
  bool next(std::vector<std::string>& fields);
  /// The problem of the last record ("has a quote that does not end"), or empty.
  std::string_view problem() const { return problem_; }
  std::uint64_t line() const { return line_; }  ///< first line of the record, from 1

 private:
  bool read_record(std::vector<std::string>& fields);
  void read_again(std::string lines);
  bool refill();

  More more_;
  std::uint64_t longest_record_;
  char separator_ = ',';
  std::string_view rest_{};
  std::string again_{};  ///< lines of a bad record, to be read one by one
  std::string_view behind_again_{};
  bool is_again_ = false;  ///< `rest_` views `again_`
  std::string_view problem_{};
  std::uint64_t line_ = 1;
  std::uint64_t next_line_ = 1;
  bool is_begun_ = false;
  bool is_blank_ = false;  ///< the record has neither text nor quotes
};

/// The field without blanks around it.
std::string_view csv_cell(std::string_view field);

/// An empty field has no value; "NA" is what CSVLogger and R write for one.
bool is_absent_cell(std::string_view field);

}  // namespace sabath::base
