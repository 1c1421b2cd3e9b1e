#include <sabath/base/text/csv.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sabath::base {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Of a field, behind one of its characters.
enum class State {
  begin,   ///< there is none yet
  lead,    ///< blanks alone
  plain,   ///< quotes mean nothing
  quoted,  ///< neither separators nor ends of lines mean anything
  closed,  ///< by a quote, unless another one follows
};

State after(State state, char c, bool separates) {
  if (state == State::quoted) return c == '"' ? State::closed : State::quoted;
  if (c == '"' && state != State::plain) return State::quoted;
  if (separates) return State::begin;
  const bool leads = state == State::begin || state == State::lead;
  return leads && blanks.find(c) != std::string_view::npos ? State::lead : State::plain;
}

/// A quote begins a field, so that what stood before it does not count.
bool opens_quote(State before, State state) {
  return state == State::quoted && (before == State::begin || before == State::lead);
}

/// Adds a character to the last field, or begins the next one.
void add(char c, State before, State state, std::vector<std::string>& fields) {
  const bool opens = opens_quote(before, state);
  if (opens) fields.back().clear();
  if (state == State::begin) {
    fields.emplace_back();
  } else if (state != State::closed && !opens) {
    fields.back() += c;
  }
}

/// Keeps the lines behind the first one.
void keep_further(char c, bool ends_line, std::optional<std::string>& lines) {
  if (lines) {
    *lines += c;
  } else if (ends_line) {
    lines.emplace();
  }
}

std::string_view problem_at_end(State state) {
  return state == State::quoted ? "has a quote that does not end" : "";
}

/// Drops the CR of CRLF; within quotes it is the field's.
void drop_return(State state, std::string& field) {
  const bool is_bare = state == State::plain || state == State::lead;
  if (is_bare && field.ends_with('\r')) field.pop_back();
}

char separator_of(std::string_view text) {
  constexpr std::string_view kinds = ",;\t";
  std::size_t first = kinds.size();
  State state = State::begin;
  bool is_blank = true;
  for (const char c : text) {
    if (c == '\n' && state != State::quoted && !is_blank) break;
    const std::size_t kind = kinds.find(c);
    state = after(state, c, kind != std::string_view::npos || c == '\n');
    if (state == State::begin && c != '\n') first = std::min(first, kind);
    is_blank = is_blank && (c == '\n' || blanks.find(c) != std::string_view::npos);
  }
  return first < kinds.size() ? kinds[first] : ',';
}

}  // namespace

CsvReader::CsvReader(More more, std::uint64_t longest_record)
    : more_(std::move(more)), longest_record_(longest_record) {}

bool CsvReader::next(std::vector<std::string>& fields) {
  do {
    if (!read_record(fields)) return false;
  } while (is_blank_);
  return true;
}

bool CsvReader::read_record(std::vector<std::string>& fields) {
  fields.assign(1, {});
  problem_ = {};
  line_ = next_line_;
  is_blank_ = true;
  if (rest_.empty() && !refill()) return false;
  const bool is_one_line = is_again_;
  State state = State::begin;
  std::uint64_t length = 0;
  std::optional<std::string> further_lines;
  bool has_end = false;
  while (!has_end && (!rest_.empty() || refill())) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    const bool ends_line = c == '\n';
    next_line_ += static_cast<std::uint64_t>(ends_line);
    const State before = std::exchange(state, after(state, c, c == separator_ || ends_line));
    const bool is_single = is_one_line || !problem_.empty();
    has_end = ends_line && (state == State::begin || is_single);
    if (has_end) state = before;
    keep_further(c, ends_line && !has_end, further_lines);
    if (++length > longest_record_) problem_ = "is too long";
    if (!problem_.empty() && further_lines) break;
    if (has_end || !problem_.empty()) continue;
    is_blank_ = is_blank_ && state == State::lead;
    add(c, before, state, fields);
  }
  if (problem_.empty()) problem_ = problem_at_end(state);
  if (!problem_.empty() && further_lines) read_again(*std::move(further_lines));
  is_blank_ = is_blank_ && problem_.empty();
  drop_return(state, fields.back());
  return true;
}

void CsvReader::read_again(std::string lines) {
  again_ = std::move(lines);
  behind_again_ = std::exchange(rest_, again_);
  is_again_ = true;
  next_line_ = line_ + 1;
}

bool CsvReader::refill() {
  is_again_ = false;
  rest_ = std::exchange(behind_again_, {});
  if (!rest_.empty()) return true;
  rest_ = more_();
  if (!std::exchange(is_begun_, true)) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(mark)) rest_.remove_prefix(mark.size());
    separator_ = separator_of(rest_);
  }
  return !rest_.empty();
}

std::string_view csv_cell(std::string_view field) {
  const auto first = field.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return field.substr(first, field.find_last_not_of(blanks) - first + 1);
}

bool is_absent_cell(std::string_view field) {
  const std::string_view cell = csv_cell(field);
  return cell.empty() || cell == "NA";
}

}  // namespace sabath::base
