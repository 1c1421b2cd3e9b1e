#include "run_keys.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/parameter.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sabath::catalog {
namespace {

using base::printable;
using std::string_view;

/// A GLOB pattern in which only '*' is special.
std::string glob_of(string_view text) {
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

/// "lower(COLUMN) glob ?" and the like, for one column of text.
Condition text_condition(const std::string& column,
                         Comparison comparison,
                         const SelectionTerm& term) {
  if (comparison == Comparison::contains) {
    const std::string text = base::lower_case(term.value);
    if (term.is_quoted) return {"instr(lower(" + column + "), ?) > 0", {text}};
    return {"lower(" + column + ") glob ?", {"*" + glob_of(text) + "*"}};
  }
  if (term.is_quoted || term.value.find('*') == std::string::npos)
    return {column + " = ?", {term.value}};
  return {column + " glob ?", {glob_of(term.value)}};
}

/// Of numbers any way to write them: "1e-2" is kept as "0.01", and 1000000 as "1e+06" where it may
/// have a fraction. Whole numbers that one double is nearest to are different values.
Condition parameter_equals(const SelectionTerm& term) {
  const auto read = base::number_in<double>(term.value);
  const auto exact =
      read && !term.is_quoted ? base::exact_decimal(term.value, *read) : std::nullopt;
  if (!exact) return text_condition("value", Comparison::equal, term);
  const double number = *read;
  const std::string whole = std::trunc(number) == number && std::abs(number) < 0x1p64
                                ? base::text_of(*exact)
                                : term.value;
  return {"value in (?, ?, ?)",
          {term.value,
           exact->rest == 0 ? spec::to_string(spec::ParameterValue(number)) : whole,
           number == 0 ? "0" : whole}};
}

/// "low..high" of a value; an end may be open.
struct Range {
  string_view low{};
  string_view high{};
};
std::optional<Range> range_in(const SelectionTerm& term) {
  const string_view value = term.value;
  const auto dots = value.find("..");
  if (term.is_quoted || dots == value.npos || value.size() == 2) return std::nullopt;
  return Range{value.substr(0, dots), value.substr(dots + 2)};
}

bool is_number_or_open(string_view text) {
  return text.empty() || base::number_in<double>(text);
}

Condition negated(Condition condition, const SelectionTerm& term) {
  if (term.comparison == Comparison::unequal) condition.sql = "not (" + condition.sql + ")";
  return condition;
}

/// Numbers in texts by their value, exactly; other texts fulfil no order.
Condition ordered(const std::string& column, Comparison comparison, string_view value) {
  return {"ifnull(number_order(" + column + ", ?) " + std::string(sign_of(comparison)) + " 0, 0)",
          {std::string(value)}};
}

/// The condition of runs that have the value: an empty text or a duration of 0 is none.
Condition present(const std::string& column, Condition condition, const char* none = "''") {
  condition.sql = "(" + column + " <> " + none + " and " + condition.sql + ")";
  return condition;
}

Condition of_range(const std::string& column, const Range& range, const SelectionTerm& term) {
  Condition found;
  if (!range.low.empty()) found = ordered(column, Comparison::at_least, range.low);
  if (!range.high.empty()) {
    if (!found.sql.empty()) found.sql += " and ";
    found.add(ordered(column, Comparison::at_most, range.high));
  }
  return negated(std::move(found), term);
}

/// The seconds that a duration says: "1.5h", "300ms", "00:10:00"; a bare number is seconds.
std::optional<double> seconds_in(string_view text) {
  constexpr std::array<std::pair<string_view, double>, 9> units{{{"ms", 1e-3},
                                                                 {"s", 1},
                                                                 {"m", 60},
                                                                 {"min", 60},
                                                                 {"h", 3600},
                                                                 {"d", 86400},
                                                                 {"w", 604800},
                                                                 {"us", 1e-6},
                                                                 {"", 1}}};
  const auto number = base::leading_number<double>(text);
  const auto at = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  const string_view unit = base::trimmed(text.substr(at));
  const auto* const known = std::ranges::find(units, unit, &std::pair<string_view, double>::first);
  if (number && known != units.end()) return *number * known->second;
  const auto clock = base::parse_duration(text);
  return clock ? std::optional(static_cast<double>(clock->count())) : std::nullopt;
}

constexpr const char* shared_double =
    "the catalog does not tell whole numbers beyond 2^53 from their neighbours";
constexpr const char* hint_of_exact =
    "'sabath show RUN' and 'sabath compare' are exact; or write a range";

bool shares_its_double(double number) {
  return std::isfinite(number) && std::abs(number) >= 0x1p53;
}

/// Writes the conditions of one selection.
class Writer {
 public:
  Writer(string_view text, Database& database, base::WallTime now)
      : text_(text), database_(database), now_(now) {}

  Condition of(const Expression& expression) const {
    if (expression.kind == Expression::Kind::term) return of_term(expression.term);
    const bool is_any = expression.kind == Expression::Kind::any;
    Condition all;
    for (const Expression& part : expression.parts) {
      all.sql += all.sql.empty() ? "(" : is_any ? " or " : " and ";
      all.add(of(part));
    }
    all.sql = all.sql.empty() ? "1" : all.sql + ")";
    if (expression.kind == Expression::Kind::none) all.sql.insert(0, "not ");
    return all;
  }

 private:
  [[noreturn]] void refuse(const SelectionTerm& term,
                           const std::string& problem,
                           const std::string& hint = {}) const {
    refuse_selection(text_,
                     problem + " (in '" + printable(term.key) +
                         std::string(sign_of(term.comparison)) + printable(term.value) + "')",
                     hint);
  }

  Condition of_term(const SelectionTerm& term) const {
    const auto [prefix, name] = prefixed(term.key);
    // A parameter's own name wins over a prefix: it may have dots.
    if (prefix.empty() || has_parameter(database_, term.key)) return of_bare(term);
    if (prefix == "param") return of_parameter(std::string(name), term);
    if (prefix != "run") return of_metric(name, prefix, term);
    const auto* const column = std::ranges::find(columns, name, &Column::key);
    if (column == columns.end()) {
      refuse(term,
             "runs have no '" + printable(name) + "'",
             "'sabath help selections' lists the terms");
    }
    return of_column(*column, term);
  }

  Condition of_bare(const SelectionTerm& term) const {
    const Column* const column = column_of(term.key, database_);
    if (column != nullptr) return of_column(*column, term);
    const bool is_parameter = has_parameter(database_, term.key);
    const bool is_metric = has_metric(database_, term.key);
    if (is_metric && !is_parameter) return of_metric(term.key, "", term);
    const bool is_word = std::ranges::find(columns, term.key, &Column::key) != columns.end();
    if (is_parameter && (is_metric || is_word) && term.comparison != Comparison::equal) {
      refuse(term,
             "'" + printable(term.key) + "' is a parameter and " +
                 (is_metric ? "a metric" : "a word of selections"),
             "write param." + printable(term.key) + (is_metric ? " or metric." : " or run.") +
                 printable(term.key));
    }
    return of_parameter(term.key, term);
  }

  void refuse_order(const SelectionTerm& term, const std::string& what) const {
    const bool is_order = term.comparison != Comparison::equal &&
                          term.comparison != Comparison::unequal &&
                          term.comparison != Comparison::contains;
    if (is_order) refuse(term, what + " are compared by =, != and ~");
  }

  void refuse_contains(const SelectionTerm& term, const std::string& what) const {
    if (term.comparison == Comparison::contains)
      refuse(term, what + " have no text that '~' could look into");
  }

  Condition of_column(const Column& column, const SelectionTerm& term) const {
    switch (column.kind) {
      case ValueKind::text:
        return of_text(column, term);
      case ValueKind::seed:
        return of_seed(term);
      case ValueKind::state:
        return of_state(term);
      case ValueKind::time:
        return of_time(column, term);
      case ValueKind::duration:
        break;
    }
    return of_duration(column, term);
  }

  Condition of_text(const Column& column, const SelectionTerm& term) const {
    refuse_order(term, "texts such as '" + std::string(column.key) + "'");
    SelectionTerm wanted = term;
    if (column.key == "environment") wanted.value += "*";  // of its key the beginning is enough
    if (column.key == "task") wanted.value.insert(0, "task:");  // as planning::plan_run tags them
    const std::string name(column.column);
    if (column.table.empty()) {
      Condition found = negated(text_condition("run." + name, term.comparison, wanted), term);
      const bool is_other = term.comparison == Comparison::unequal && !term.value.empty();
      return is_other ? present("run." + name, std::move(found)) : found;
    }
    Condition found = text_condition(name, term.comparison, wanted);
    found.sql =
        "run.n in (select run from " + std::string(column.table) + " where " + found.sql + ")";
    return negated(std::move(found), term);
  }

  Condition of_seed(const SelectionTerm& term) const {
    refuse_contains(term, "seeds");
    const auto is_seed = [](string_view text, string_view more) {
      return std::ranges::all_of(
          text, [&](char c) { return (c >= '0' && c <= '9') || more.find(c) != more.npos; });
    };
    if (const auto range = range_in(term);
        range && is_seed(range->low, "") && is_seed(range->high, ""))
      return of_range("run.seed", *range, term);
    // '*' may stand for digits.
    if (term.value.empty() || !is_seed(term.value, "*")) {
      refuse(term,
             "'" + printable(term.value) + "' is not a seed",
             "a seed is a whole number of zero or more, such as seed=1 or seed=1..5");
    }
    if (term.comparison == Comparison::equal || term.comparison == Comparison::unequal) {
      SelectionTerm wanted = term;
      wanted.value.erase(0, std::min(wanted.value.find_first_not_of('0'), wanted.value.size() - 1));
      return negated(text_condition("run.seed", Comparison::equal, wanted), term);
    }
    if (!is_seed(term.value, "")) refuse(term, "'*' has no place in an order");
    return ordered("run.seed", term.comparison, term.value);
  }

  Condition of_state(const SelectionTerm& term) const {
    refuse_order(term, "states");
    refuse_contains(term, "states");
    if (!spec::parse_enum<spec::RunState>(term.value)) {
      const auto words = spec::words_of(spec::RunState());
      const std::vector<std::string> states(words.begin(), words.end());
      refuse(term,
             "'" + printable(term.value) + "' is not a state",
             base::did_you_mean(term.value, states, "states are " + base::joined(states, ", ")));
    }
    return negated({"run.state = ?", {term.value}}, term);
  }

  /// "7d" is a moment so long ago.
  std::string moment(const SelectionTerm& term, string_view value) const {
    if (const auto age = base::parse_duration(value)) {
      // No run is older than the epoch, and nanoseconds do not reach far beyond it.
      const auto longest = std::chrono::floor<std::chrono::seconds>(now_.time_since_epoch());
      return base::format_rfc3339(now_ - std::min(*age, longest));
    }
    std::string stamp(value);
    if (stamp.size() == 10) stamp += "T00:00:00Z";
    const auto time = base::parse_rfc3339(stamp);
    if (!time) {
      refuse(term,
             "'" + printable(value) + "' is not a time",
             "such as since=7d, since=12h, since=2026-11-20 or a full RFC 3339 time");
    }
    return base::format_rfc3339(*time);
  }

  Condition of_time(const Column& column, const SelectionTerm& term) const {
    refuse_contains(term, "times");
    const std::string name = "run." + std::string(column.column);
    const bool is_bound = column.key == "since" || column.key == "until";
    if (is_bound && term.comparison != Comparison::equal)
      refuse(term, "'" + std::string(column.key) + "' takes '='", "created>=TIME says the same");
    if (is_bound)
      return {name + (column.key == "since" ? " >= ?" : " < ?"), {moment(term, term.value)}};
    const bool is_equality =
        term.comparison == Comparison::equal || term.comparison == Comparison::unequal;
    if (const auto range = range_in(term); range && is_equality) {
      const std::string low = range->low.empty() ? "" : moment(term, range->low);
      const std::string high = range->high.empty() ? "9999" : end_of(term, range->high);
      return present(name, negated({name + " between ? and ?", {low, high}}, term));
    }
    if (!is_equality) {
      return present(
          name,
          {name + " " + std::string(sign_of(term.comparison)) + " ?", {moment(term, term.value)}});
    }
    // A day, or the part of a time that is written.
    if (term.value.size() < 4 || !base::number_in<int>(term.value.substr(0, 4)))
      refuse(term,
             "'" + printable(term.value) + "' is not a day",
             "such as created=2026-11-20, or created>=7d");
    return present(name, negated({name + " glob ?", {glob_of(term.value) + "*"}}, term));
  }

  /// A day as the upper end of a range is in it as a whole.
  std::string end_of(const SelectionTerm& term, string_view value) const {
    const std::string begin = moment(term, value);
    return value.size() == 10 ? std::string(value) + "T23:59:59.999Z" : begin;
  }

  double seconds(const SelectionTerm& term, string_view value) const {
    if (const auto read = seconds_in(value)) return *read;
    refuse(term,
           "'" + printable(value) + "' is not a duration",
           "units are ms, s, m, h, d and w, such as 90s, 1.5h or 00:10:00");
  }

  Condition of_duration(const Column& column, const SelectionTerm& term) const {
    refuse_contains(term, "durations");
    const std::string name = "run." + std::string(column.column);
    if (const auto range = range_in(term)) {
      const double low = range->low.empty() ? 0 : seconds(term, range->low);
      const double high =
          range->high.empty() ? std::numeric_limits<double>::max() : seconds(term, range->high);
      return present(name, negated({name + " between ? and ?", {low, high}}, term), "0");
    }
    return present(
        name,
        {name + " " + std::string(sign_of(term.comparison)) + " ?", {seconds(term, term.value)}},
        "0");
  }

  Condition of_parameter(const std::string& name, const SelectionTerm& term) const {
    const auto range = range_in(term);
    const bool is_equality =
        term.comparison == Comparison::equal || term.comparison == Comparison::unequal;
    Condition test;
    if (is_equality && range && is_number_or_open(range->low) && is_number_or_open(range->high)) {
      test = of_range("value", *range, term);
    } else if (is_equality) {
      refuse_half(term);
      test = negated(parameter_equals(term), term);
    } else if (term.comparison == Comparison::contains) {
      test = text_condition("value", term.comparison, term);
    } else {
      if (!base::number_in<double>(term.value))
        refuse(term, "'" + printable(term.value) + "' is not a number");
      test = ordered("value", term.comparison, term.value);
    }
    Condition found{"run.n in (select run from run_parameter where name = ? and ", {name}};
    found.add(test);
    found.sql += ")";
    return found;
  }

  /// "lr=0.1,loss" is what a shell leaves of "lr=0.1,loss<0.3".
  void refuse_half(const SelectionTerm& term) const {
    const auto comma = term.value.rfind(',');
    if (term.is_quoted || comma == std::string::npos) return;
    const string_view last = base::trimmed(string_view(term.value).substr(comma + 1));
    const bool is_name = has_parameter(database_, last) || has_metric(database_, last) ||
                         std::ranges::find(columns, last, &Column::key) != columns.end();
    if (!is_name) return;
    refuse(term,
           "'" + printable(last) + "' has no operator",
           "did the shell take '<' or '>' as a redirection? Quote the selection, or write " +
               printable(last) + ".lt=VALUE");
  }

  Condition of_metric(string_view name, string_view prefix, const SelectionTerm& term) const {
    refuse_contains(term, "metrics");
    if (prefix == "best" && has_metric(database_, name) && !has_metric(database_, name, true)) {
      refuse(term,
             "the metric '" + printable(name) + "' has no best value",
             "its recipe gives it no \"better\": lower or higher");
    }
    Condition found{"run.n in (select run from run_metric where ", {}};
    found.add(metric_rows(name, prefix));
    found.sql += " and ";
    found.add(metric_condition(metric_value(prefix), term));
    found.sql += ")";
    return found;
  }

  Condition metric_condition(const std::string& value, const SelectionTerm& term) const {
    const bool is_equality =
        term.comparison == Comparison::equal || term.comparison == Comparison::unequal;
    if (is_equality && base::lower_case(term.value) == "nan")
      return {"points > 0 and " + negated({value + " is null", {}}, term).sql, {}};
    if (const auto range = range_in(term); range && is_equality) {
      const double infinity = std::numeric_limits<double>::infinity();
      const double low = range->low.empty() ? -infinity : number(term, range->low);
      const double high = range->high.empty() ? infinity : number(term, range->high);
      return negated({value + " between ? and ?", {low, high}}, term);
    }
    const double wanted = number(term, term.value);
    if (is_equality && shares_its_double(wanted)) refuse(term, shared_double, hint_of_exact);
    return {value + " " + std::string(sign_of(term.comparison)) + " ?", {wanted}};
  }

  double number(const SelectionTerm& term, string_view text) const {
    const auto read = base::number_in<double>(text);
    if (!read || std::isnan(*read)) {
      refuse(term,
             "'" + printable(text) + "' is not a number",
             "a metric is compared with a number in its own unit, without the unit");
    }
    return *read;
  }

  string_view text_;
  Database& database_;
  base::WallTime now_;
};

}  // namespace

Condition condition_of(const Expression& filter,
                       string_view text,
                       Database& database,
                       base::WallTime now) {
  return Writer(text, database, now).of(filter);
}

}  // namespace sabath::catalog
