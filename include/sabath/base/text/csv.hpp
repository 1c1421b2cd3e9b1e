#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// The records of a table in text, one after the other: RFC 4180 as Python and R read it. Lines end
/// with LF or CRLF. A quote is one only where a field begins, in `5" x` it is a character like any
/// other; what follows the quote's end belongs to the field. Lines of blanks are no records, and a
/// byte order mark is passed by. Fields are separated by commas, semicolons or tabs: the first of
/// these kinds that the first record has outside of quotes, as far as the first bytes show it.
class CsvReader {
 public:
  /// The next bytes, which stay until it is called again; none at the end.
  using More = std::function<std::string_view()>;

  CsvReader(More more, std::uint64_t longest_record);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  /// False at the end. A record that has a problem is passed by, its fields are no use. Where its
  /// quote never ends, since a writer was killed within it and another went on, or where it is too
  /// long, this is its first line alone: each of the further ones is then a record of its own.
  bool next(std::vector<std::string>& fields);
  /// What is wrong with the record, "has a quote that does not end"; empty: nothing.
  std::string_view problem() const { return problem_; }
  std::uint64_t line() const { return line_; }  ///< that the record begins with, from 1

 private:
  bool read_record(std::vector<std::string>& fields);
  void read_again(std::string lines);
  bool refill();

  More more_;
  std::uint64_t longest_record_;
  char separator_ = ',';
  std::string_view rest_{};
  std::string again_{};  ///< lines of a record that was none
  std::string_view behind_again_{};
  bool is_again_ = false;  ///< these are what `rest_` is of
  std::string_view problem_{};
  std::uint64_t line_ = 1;
  std::uint64_t next_line_ = 1;
  bool is_begun_ = false;
  bool is_blank_ = false;  ///< the record is, and has no quotes
};

/// The field without blanks around it.
std::string_view csv_cell(std::string_view field);

/// An empty field has no value; "NA" is what CSVLogger and R write for one.
bool is_absent_cell(std::string_view field);

}  // namespace sabath::base
