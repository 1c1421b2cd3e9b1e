#pragma once

#include <boost/dynamic_bitset.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace sabath::app {

/// A set of changes: bit i stands for change i.
using ChangeSet = boost::dynamic_bitset<>;

/// Result of A with some of B's changes, compared with A.
enum class Outcome {
  agrees,
  differs,
  failed,      ///< the run failed, without a result
  unresolved,  ///< no verdict, or the run cannot be made
  not_made     ///< the budget or the time is spent: the search ends
};

/// Questions of the search. Each is asked at most once for a set.
struct Oracle {
  std::function<Outcome(const ChangeSet& changes)> outcome{};
  std::function<Outcome(const ChangeSet& changes)> repeat{};  ///< the same with one more run
};

/// Changes with which A differed from A.
struct SufficientSet {
  ChangeSet changes{};
  bool is_minimal = false;    ///< each part of it was tried and agrees with A
  bool is_confirmed = false;  ///< one more run differs, too
};

enum class SearchEnd {
  searched,
  spent,           ///< `not_made`
  a_differs,       ///< A again does not agree with A
  a_unresolved,    ///< A again has no verdict
  all_agree,       ///< A with all changes agrees with A
  all_unresolved,  ///< A with all changes has no verdict
  not_repeatable   ///< `unstable` gave another result when repeated
};

struct SufficientSets {
  SearchEnd end = SearchEnd::searched;
  /// The minimal ones of the differing sets, smallest first.
  std::vector<SufficientSet> sets{};
  /// All minimal sufficient sets are known: each part of them agrees, and every set that contains
  /// none of them agrees or failed. With `assume_monotone`: as `is_complete_if_monotone`.
  bool is_complete = false;
  /// All are known if no change makes runs agree that differ without it.
  bool is_complete_if_monotone = false;
  /// Changes in every minimal sufficient set; empty unless `is_complete`.
  ChangeSet necessary{};
  /// Sets that agree although a part of them differs: some changes mask others.
  std::vector<ChangeSet> masking{};
  /// Sets that failed or have no verdict, and contain no differing set.
  std::vector<ChangeSet> failed{};
  std::vector<ChangeSet> unresolved{};
  /// Untried sets that could be minimal: the smallest `most_listed` of them, or fewer where a
  /// search for them would take long.
  std::vector<ChangeSet> untried{};
  /// An upper bound with `assume_monotone`, or where counting would take long; 2^53 at most.
  std::uint64_t untried_count = 0;
  std::uint64_t runs_left = 0;  ///< for the untried and the unconfirmed
  /// The same, if each untried set differs and is confirmed, and open sets are made again.
  std::uint64_t most_runs_left = 0;
  ChangeSet unstable{};

  static constexpr std::size_t most_listed = 100;
};

/// Finds all minimal sufficient sets of `count` changes. A differs with such a set, and with no
/// proper part of it.
/// Assumes nothing about how changes act together. Leaves out supersets of a differing set, which
/// are not minimal, and tries all others by size, so that the result is exact. With more than
/// `direct_limit` changes the search begins with the runs that suffice for a monotone outcome.
/// Delta debugging (A. Zeller, R. Hildebrandt, IEEE Trans. Softw. Eng. 28, 2002) shrinks a
/// differing set. Complements of the minimal hitting sets of what is known are where the next one
/// can be (dualize and advance: D. Gunopulos et al., ACM Trans. Database Syst. 28, 2003). With
/// `assume_monotone` the search ends there.
struct SearchOptions {
  bool assume_monotone = false;
  std::size_t direct_limit = 4;
};
SufficientSets find_sufficient_sets(std::size_t count,
                                    const Oracle& oracle,
                                    const SearchOptions& options = {});

}  // namespace sabath::app
