#pragma once

#include <boost/dynamic_bitset.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace sabath::app {

/// Some of n changes: bit i stands for change i.
using ChangeSet = boost::dynamic_bitset<>;

/// How A with some of B's changes comes out against A.
enum class Outcome {
  agrees,
  differs,
  failed,      ///< the run failed: there is no result
  unresolved,  ///< no verdict, or the run cannot be made
  not_made     ///< the budget or the time is spent: the search ends
};

/// What the search asks. Each is asked at most once for a set.
struct Oracle {
  std::function<Outcome(const ChangeSet& changes)> outcome{};
  std::function<Outcome(const ChangeSet& changes)> repeat{};  ///< the same with one more run
};

/// Changes with which A was seen to differ from A.
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
  not_repeatable   ///< `unstable` came out otherwise once more
};

struct SufficientSets {
  SearchEnd end = SearchEnd::searched;
  /// The minimal ones among the sets that were seen to differ, smallest first.
  std::vector<SufficientSet> sets{};
  /// All minimal sufficient sets are known: each part of them agrees, and every set that contains
  /// none of them agrees or failed. With `assume_monotone`: as `is_complete_if_monotone`.
  bool is_complete = false;
  /// All are known if a change that is added to changes that differ never makes them agree.
  bool is_complete_if_monotone = false;
  /// In every minimal sufficient set; empty unless `is_complete`.
  ChangeSet necessary{};
  /// Agree, although a part of them differs: some changes mask others.
  std::vector<ChangeSet> masking{};
  /// Sets that failed or have no verdict, and contain no set that differs.
  std::vector<ChangeSet> failed{};
  std::vector<ChangeSet> unresolved{};
  /// Sets that were not tried and could be minimal: the smallest `most_listed` of them, or fewer
  /// where looking for them would take long.
  std::vector<ChangeSet> untried{};
  /// An upper bound with `assume_monotone`, or where counting would take long; 2^53 at most.
  std::uint64_t untried_count = 0;
  std::uint64_t runs_left = 0;  ///< for the untried and the unconfirmed
  /// The same, if each untried set differs and is confirmed, and what has no verdict is made again.
  std::uint64_t most_runs_left = 0;
  ChangeSet unstable{};

  static constexpr std::size_t most_listed = 100;
};

/// Finds all minimal sufficient sets of `count` changes: sets with which A differs, and with no
/// proper part of which it does.
///
/// Nothing is assumed about how changes act together. Supersets of a set that differs are not
/// minimal and are left out; all others are tried by size, so that what is found is exact. With
/// more than `direct_limit` changes the search begins with those runs that would be enough if the
/// outcome were monotone: delta debugging (A. Zeller, R. Hildebrandt, IEEE Trans. Softw. Eng. 28,
/// 2002) shrinks a set that differs, and complements of the minimal hitting sets of what is known
/// are where the next one can be (dualize and advance: D. Gunopulos et al., ACM Trans. Database
/// Syst. 28, 2003). With `assume_monotone` the search ends there.
struct SearchOptions {
  bool assume_monotone = false;
  std::size_t direct_limit = 4;
};
SufficientSets find_sufficient_sets(std::size_t count,
                                    const Oracle& oracle,
                                    const SearchOptions& options = {});

}  // namespace sabath::app
