#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

/// How a term of a selection compares.
enum class Comparison { equal, unequal, less, at_most, more, at_least, contains };

/// One condition of a selection, as typed: "lr=0.1", "loss.lt=0.3", "note~warm".
struct SelectionTerm {
  std::string key{};  ///< without the word form: "loss" of "loss.lt"
  Comparison comparison = Comparison::equal;
  std::string value{};
  bool is_quoted = false;  ///< nothing in the value is special
  std::size_t place = 0;   ///< where it begins in its text
};

/// The names that a selection's text may refer to.
struct SelectionNames {
  /// Does a run in the catalog have this parameter?
  std::function<bool(std::string_view)> is_parameter{};
  /// The texts of saved selections, by name.
  std::function<std::map<std::string, std::string>()> saved{};
};

/// What a selection names.
struct SelectionParts {
  std::vector<SelectionTerm> terms{};  ///< also those within 'or' and 'not'
  bool is_one_run = false;             ///< it names one run, by id or as "@last"
};

/// Throws Error{usage} for a selection that cannot be read.
SelectionParts parts_of(std::string_view selection, const SelectionNames& names);

/// The keys of terms that are neither parameters nor metrics.
std::vector<std::string> selection_keys();

/// "<=" of Comparison::at_most.
std::string_view sign_of(Comparison comparison);

/// A key without a prefix "param.", "metric.", "last.", "best." or "run.", and that prefix without
/// its dot. The prefix is empty where the key has none.
struct PrefixedKey {
  std::string_view prefix{};
  std::string_view name{};
};
PrefixedKey prefixed(std::string_view key);

}  // namespace sabath::catalog
