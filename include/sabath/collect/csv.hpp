#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// The fields of the record that begins at `at` (RFC 4180: quotes around separators, quotes and
/// line ends; LF or CRLF), which moves to the next one. Nothing for a record whose quotes do not
/// match; then `at` is at the end.
std::optional<std::vector<std::string>> next_csv_record(std::string_view text,
                                                        std::size_t& at,
                                                        char separator);

/// Comma, semicolon or tab: the first of these kinds that the header has.
char csv_separator(std::string_view header);

/// The field without blanks around it.
std::string_view csv_cell(std::string_view field);

/// An empty field has no value; "NA" is what CSVLogger and R write for one.
bool is_absent_cell(std::string_view field);

/// What UTF-8 files of Windows begin with, taken off.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace sabath::collect
