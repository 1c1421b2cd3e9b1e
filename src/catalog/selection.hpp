#pragma once

#include "database.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/catalog/selection_terms.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::catalog {

/// One run: "@last~3", "@running", "@best", "@previous", or an id or the beginning of one.
struct RunReference {
  enum class Kind { id, last, running, best, previous };
  Kind kind = Kind::id;
  std::uint32_t before = 0;  ///< of @last: 0 is the newest
  std::string prefix{};      ///< of an id
};

/// What runs must fulfil: a term, or others joined. A reference stands only among the parts of the
/// outermost `all`, until parse_selection takes it out.
struct Expression {
  enum class Kind { term, reference, all, any, none };
  Kind kind = Kind::all;
  SelectionTerm term{};
  RunReference reference{};
  std::vector<Expression> parts{};
};

/// A selection as it was typed.
struct Selection {
  /// One run, or the two ends of a range. None: all runs that fit the filter.
  std::vector<RunReference> references{};
  /// What the runs must fulfil. With a reference: it names the run among those.
  std::optional<Expression> filter{};
};

/// Reads "@last~1", "A..B", "recipe=x,(lr<0.1 or tag=ci)", "recipe=x,@best" or an id. Throws
/// Error{usage}. Syntax: docs/commands/selections.md.
Selection parse_selection(std::string_view text, const SelectionNames& names);

/// Is it a key since selections have operators? A parameter of that name keeps its meaning.
bool is_later_key(std::string_view key);

/// Throws Error{usage}: "selection 'TEXT': PROBLEM".
[[noreturn]] void refuse_selection(std::string_view text,
                                   const std::string& problem,
                                   const std::string& hint = {});

/// SQL with values for its question marks.
struct Condition {
  std::string sql{};
  std::vector<std::variant<std::string, double>> values{};

  void add(const Condition& more);
  /// Binds the values to a statement whose first question mark is number `first`.
  void bind(SQLite::Statement& statement, int first = 1) const;
};

/// The condition on the table `run` that `filter` states. `text`: the whole selection, for errors.
/// Throws Error{usage} for values that do not fit their keys.
Condition condition_of(const Expression& filter,
                       std::string_view text,
                       Database& database,
                       base::WallTime now);

/// How rows stand when they are sorted by a key: a parameter, a metric, or a column of runs.
/// `-key` is the other way round. Throws Error{usage} for a name that no run has.
Condition order_of(std::string_view key, Database& database);

/// The same for a metric that one stage reports, by the index of its values: "from ... where ...
/// and (FILTER) order by ...". Nothing for other keys. Runs without a value are not among the rows.
std::optional<Condition> order_by_metric(std::string_view key, Database& database);

/// The names of the runs in this catalog, and the selections saved beside it.
SelectionNames names_in(Database& database);

}  // namespace sabath::catalog
