#include "selection.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/parameter.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;

[[noreturn]] void refuse(std::string_view text,
                         const std::string& problem,
                         const std::string& hint = {}) {
  throw Error(ErrorKind::usage, "selection '" + base::printable(text) + "': " + problem, hint);
}

RunReference parse_reference(std::string_view text, std::string_view whole) {
  constexpr std::string_view last = "@last";
  if (text == "@running") return {{}, true, {}};
  if (!text.starts_with('@')) {
    if (text.empty()) refuse(whole, "an end of the range is missing");
    return {{}, false, std::string(text)};
  }
  std::uint32_t back = 0;
  std::string_view rest = text;
  const bool is_last = rest.starts_with(last);
  if (is_last) rest.remove_prefix(last.size());
  if (is_last && rest.empty()) return {back, false, {}};
  if (is_last && rest.starts_with('~')) {
    const auto number = base::number_in<decltype(back)>(rest.substr(1));
    if (number) return {*number, false, {}};
  }
  refuse(
      whole,
      "'" + base::printable(text) + "' is not a run",
      "@last is the newest that has ended, @last~1 the one before it, @running the newest that has "
      "not ended");
}

/// A GLOB pattern in which only '*' is special.
std::string glob_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '[' || c == '?') {
      pattern += std::string("[") + c + "]";
    } else {
      pattern += c;
    }
  }
  return pattern;
}

/// A term's SQL: `before`, a comparison with the value, `after`. Parts of runs are looked for by
/// their indexes and not run by run.
struct Column {
  std::string_view key;
  std::string_view before;
  std::string_view after;
};
constexpr std::array<Column, 10> columns{{
    {"id", "run.id", ""},
    {"recipe", "run.recipe", ""},
    {"seed", "run.seed", ""},
    {"study", "run.study", ""},
    {"user", "run.user", ""},
    {"node", "run.node", ""},
    {"host", "run.node", ""},
    {"environment", "run.n in (select run from run_layer where key", ")"},
    {"tag", "run.n in (select run from run_tag where tag", ")"},
    {"task", "run.n in (select run from run_tag where tag", ")"},
}};
constexpr Column parameter{
    "", "run.n in (select run from run_parameter where name = ? and value", ")"};

void add_comparison(Condition& condition, const Column& column, std::string_view value) {
  const bool is_text = value.find('*') == std::string_view::npos;
  condition.sql += column.before;
  condition.sql += is_text ? " = ?" : " glob ?";
  condition.sql += column.after;
  condition.texts.push_back(is_text ? std::string(value) : glob_of(value));
}

/// Of numbers any way to write them: "1e-2" is kept as "0.01", and 1000000 as "1e+06" where it may
/// have a fraction. Whole numbers that one double is nearest to are different values.
void add_parameter(Condition& condition, const std::string& name, std::string_view value) {
  condition.texts.push_back(name);
  const auto read = base::number_in<double>(value);
  if (!read) return add_comparison(condition, parameter, value);
  const double number = *read;
  const auto exact = base::exact_decimal(value, number);
  if (!exact) return add_comparison(condition, parameter, value);
  condition.sql += std::string(parameter.before) + " in (?, ?, ?)" + std::string(parameter.after);
  const std::string whole = std::trunc(number) == number && std::abs(number) < 0x1p64
                                ? base::text_of(*exact)
                                : std::string(value);
  condition.texts.emplace_back(value);
  condition.texts.push_back(exact->rest == 0 ? spec::to_string(spec::ParameterValue(number))
                                             : whole);
  condition.texts.push_back(number == 0 ? "0" : whole);
}

/// The operator of a term that has another one than '='. The '~' of "@last~1" is none.
std::string_view other_operator(std::string_view term) {
  const auto first = term.find_first_of("=<>!~");
  if (first == std::string_view::npos || first == 0) return {};
  const auto past = term.find_first_not_of("=<>!~", first);
  const std::string_view typed = term.substr(first, past - first);
  return typed == "=" || typed == "~" ? std::string_view() : typed;
}

void refuse_operator(std::string_view term, std::string_view whole) {
  const std::string_view typed = other_operator(term);
  if (typed.empty()) return;
  std::string_view name = term.substr(0, term.find(typed));
  if (name.starts_with("param.")) name.remove_prefix(6);  // of --by; selections name it alone
  const std::string key = base::printable(name);
  refuse(whole,
         "the operator '" + base::printable(typed) + "' is not supported",
         "'=' is the only one: " + key + "=VALUE, where '*' stands for any text");
}

std::string since_text(std::string_view value, std::string_view whole, base::WallTime now) {
  if (const auto age = base::parse_duration(value)) {
    // No run is older than the epoch, and nanoseconds do not reach far beyond it.
    const auto longest = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
    return base::format_rfc3339(now - std::min(*age, longest));
  }
  std::string stamp(value);
  if (stamp.size() == 10) stamp += "T00:00:00Z";
  const auto time = base::parse_rfc3339(stamp);
  if (!time) {
    refuse(whole,
           "'" + base::printable(value) + "' is not a time",
           "such as since=7d, since=12h, since=2026-11-20 or a full RFC 3339 time");
  }
  return base::format_rfc3339(*time);
}

[[noreturn]] void refuse_state(std::string_view value, std::string_view whole) {
  const std::vector<std::string> states{
      "planned", "running", "ok", "failed", "interrupted", "lost", "unknown", "imported"};
  refuse(whole,
         "'" + base::printable(value) + "' is not a state",
         base::did_you_mean(
             value,
             states,
             "states are planned, running, ok, failed, interrupted, lost, unknown and imported"));
}

void add_term(Condition& condition,
              std::string_view term,
              std::string_view whole,
              base::WallTime now) {
  refuse_operator(term, whole);
  const auto sign = term.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    refuse(whole,
           "'" + base::printable(term) + "' is not KEY=VALUE",
           "'sabath help selections' lists the terms");
  }
  const std::string key(term.substr(0, sign));
  const std::string_view value = term.substr(sign + 1);
  if (!condition.sql.empty()) condition.sql += " and ";
  // '*' may stand for digits.
  if (key == "seed" && (value.empty() || value.find_first_not_of("0123456789*") != value.npos)) {
    refuse(whole,
           "'" + base::printable(value) + "' is not a seed",
           "a seed is a whole number of zero or more, such as seed=1");
  }
  if (key == "since") {
    condition.sql += "run.created >= ?";
    condition.texts.push_back(since_text(value, whole, now));
    return;
  }
  if (key == "status" || key == "state") {
    if (!spec::parse_enum<spec::RunState>(value)) refuse_state(value, whole);
    condition.sql += "run.state = ?";
    condition.texts.emplace_back(value);
    return;
  }
  const auto* const column = std::ranges::find(columns, key, &Column::key);
  if (column == columns.end()) {
    add_parameter(condition, key, value);
  } else {
    std::string wanted(value);
    if (key == "seed") wanted.erase(0, std::min(wanted.find_first_not_of('0'), wanted.size() - 1));
    if (key == "environment") wanted += "*";       // of its key the beginning is enough
    if (key == "task") wanted.insert(0, "task:");  // as planning::plan_run tags them
    add_comparison(condition, *column, wanted);
  }
}

/// End of the first of several terms. What follows a parameter and has no '=' is of its value, a
/// list: "hidden=16,16".
std::size_t end_of_term(std::string_view terms) {
  const std::vector<std::string> known = selection_keys();
  std::size_t end = terms.find(',');
  if (std::ranges::find(known, terms.substr(0, terms.find('='))) != known.end()) return end;
  while (end != terms.npos) {
    const std::size_t next = terms.find(',', end + 1);
    const std::string_view item = terms.substr(end + 1, next - end - 1);
    if (item.empty() || item.find_first_of("=<>!") != item.npos) break;
    end = next;
  }
  return end;
}

}  // namespace

Selection parse_selection(std::string_view text, base::WallTime now) {
  if (text.empty()) refuse(text, "is empty", "name a run, @last, or terms such as recipe=NAME");
  Selection selection;
  refuse_operator(text.substr(0, text.find(',')), text);
  if (text.find('=') != std::string_view::npos) {
    selection.terms.emplace();
    std::string_view rest = text;
    while (true) {
      const auto comma = end_of_term(rest);
      const std::string_view term = rest.substr(0, comma);
      add_term(*selection.terms, term, text, now);
      const auto sign = term.find('=');
      selection.names.push_back(
          {std::string(term.substr(0, sign)), std::string(term.substr(sign + 1))});
      if (comma == std::string_view::npos) return selection;
      rest.remove_prefix(comma + 1);
    }
  }
  const auto dots = text.find("..");
  if (dots != std::string_view::npos && text.find('/') == std::string_view::npos) {
    selection.references = {parse_reference(text.substr(0, dots), text),
                            parse_reference(text.substr(dots + 2), text)};
  } else {
    selection.references = {parse_reference(text, text)};
  }
  return selection;
}

std::vector<SelectionTerm> terms_of(std::string_view selection, base::WallTime now) {
  return parse_selection(selection, now).names;
}

std::vector<std::string> selection_keys() {
  std::vector<std::string> keys{"since", "status", "state"};
  for (const Column& column : columns)
    keys.emplace_back(column.key);
  return keys;
}

}  // namespace sabath::catalog
