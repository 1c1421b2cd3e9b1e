#include "sufficient_sets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sabath::app {
namespace {

constexpr std::uint64_t countless = std::uint64_t{1} << 53U;

using Visit = std::function<bool(const ChangeSet&)>;

/// Calls `visit` with the sets that have `missing` more changes than `set`, none of them before
/// `next`, until it returns false. Skips sets with a part that `is_excluded`. Leaves `set` as it
/// was.
bool each_of_size(ChangeSet& set,
                  std::size_t next,
                  std::size_t missing,
                  const Visit& is_excluded,
                  const Visit& visit) {
  if (missing == 0) return visit(set);
  for (std::size_t i = next; i + missing <= set.size(); ++i) {
    set.set(i);
    const bool continues =
        is_excluded(set) || each_of_size(set, i + 1, missing - 1, is_excluded, visit);
    set.reset(i);
    if (!continues) return false;
  }
  return true;
}

std::uint64_t power_of_two(std::size_t exponent) {
  return exponent < 53 ? std::uint64_t{1} << exponent : countless;
}

/// Number of subsets of `free` changes that contain none of `sets`. An upper bound once `steps` are
/// too many.
std::uint64_t count_avoiding(const std::vector<ChangeSet>& sets,
                             std::size_t free,
                             std::size_t& steps) {
  constexpr std::size_t most_steps = 100'000;
  if (++steps > most_steps || sets.empty()) return power_of_two(free);
  if (std::ranges::any_of(sets, [](const auto& set) { return set.none(); })) return 0;
  const std::size_t change = sets.front().find_first();
  std::vector<ChangeSet> with = sets;
  std::vector<ChangeSet> without;
  for (ChangeSet& set : with) {
    if (!set.test(change)) without.push_back(set);
    set.reset(change);
  }
  const std::uint64_t count = count_avoiding(with, free - 1, steps);
  return std::min(count + count_avoiding(without, free - 1, steps), countless);
}

/// Whether each change of `chosen` is the only one of them in some set of the family.
bool are_needed(const std::vector<ChangeSet>& family, const ChangeSet& chosen) {
  for (auto i = chosen.find_first(); i != ChangeSet::npos; i = chosen.find_next(i)) {
    const bool is_needed = std::ranges::any_of(
        family, [&](const ChangeSet& set) { return set.test(i) && (set & chosen).count() == 1; });
    if (!is_needed) return false;
  }
  return true;
}

/// Calls `visit` with the minimal hitting sets of a family that have all of `chosen` and none of
/// `excluded`, until it returns false. Returns whether it never did. A search in depth where each
/// change must be the only one that hits some set (K. Murakami, T. Uno, Discrete Appl. Math. 170,
/// 2014).
bool each_hitting_set(const std::vector<ChangeSet>& family,
                      const ChangeSet& chosen,
                      ChangeSet excluded,
                      const Visit& visit) {
  const auto open =
      std::ranges::find_if(family, [&](const ChangeSet& set) { return !set.intersects(chosen); });
  if (open == family.end()) return visit(chosen);
  for (auto i = open->find_first(); i != ChangeSet::npos; i = open->find_next(i)) {
    if (excluded.test(i)) continue;
    ChangeSet further = chosen;
    further.set(i);
    if (are_needed(family, further) && !each_hitting_set(family, further, excluded, visit))
      return false;
    excluded.set(i);
  }
  return true;
}

std::vector<ChangeSet> split(const ChangeSet& set, std::size_t parts) {
  std::vector<ChangeSet> result(parts, ChangeSet(set.size()));
  const std::size_t size = set.count();
  std::size_t n = 0;
  for (auto i = set.find_first(); i != ChangeSet::npos; i = set.find_next(i))
    result[n++ * parts / size].set(i);
  return result;
}

bool is_before(const ChangeSet& a, const ChangeSet& b) {
  if (a.count() != b.count()) return a.count() < b.count();
  const ChangeSet differing = a ^ b;
  return differing.any() && a.test(differing.find_first());
}

class Search {
 public:
  Search(std::size_t count, const Oracle& oracle, const SearchOptions& options)
      : count_(count), oracle_(oracle), options_(options), all_(ChangeSet(count).set()) {}

  SufficientSets run() {
    if (begins()) {
      if (count_ > options_.direct_limit || options_.assume_monotone) search_as_if_monotone();
      if (!options_.assume_monotone) search_by_size();
      for (const ChangeSet& set : std::vector<ChangeSet>(found_))
        confirm(set);
    }
    return result();
  }

 private:
  bool is_over() const { return end_ != SearchEnd::searched; }

  Outcome outcome(const ChangeSet& set) {
    if (is_over()) return Outcome::not_made;
    const auto known = known_.find(set);
    if (known != known_.end()) return known->second;
    const Outcome answer = oracle_.outcome(set);
    if (answer == Outcome::not_made) {
      end_ = SearchEnd::spent;
      return answer;
    }
    known_.emplace(set, answer);
    if (answer == Outcome::differs) add(set);
    return answer;
  }

  /// Keeps the minimal ones of the differing sets.
  void add(const ChangeSet& set) {
    if (contains_found(set)) return;
    std::erase_if(found_, [&](const ChangeSet& other) { return set.is_subset_of(other); });
    found_.push_back(set);
  }

  bool contains_found(const ChangeSet& set) const {
    return std::ranges::any_of(found_,
                               [&](const ChangeSet& found) { return found.is_subset_of(set); });
  }

  bool is_in_agreeing(const ChangeSet& set) const {
    return std::ranges::any_of(known_, [&](const auto& known) {
      return known.second == Outcome::agrees && set.is_subset_of(known.first);
    });
  }

  /// Returns whether A agrees with A, and A with all changes does not.
  bool begins() {
    const Outcome again = outcome(ChangeSet(count_));
    if (is_over()) return false;
    if (again != Outcome::agrees) {
      end_ = again == Outcome::differs ? SearchEnd::a_differs : SearchEnd::a_unresolved;
      return false;
    }
    const Outcome with_all = outcome(all_);
    if (is_over()) return false;
    if (with_all == Outcome::differs) return true;
    end_ = with_all == Outcome::agrees ? SearchEnd::all_agree : SearchEnd::all_unresolved;
    return false;
  }

  void repeat(const ChangeSet& set, Outcome expected) {
    if (is_over() || confirmed_.contains(set)) return;
    const Outcome answer = oracle_.repeat(set);
    if (answer == expected) {
      confirmed_.insert(set);
    } else if (answer == Outcome::not_made) {
      end_ = SearchEnd::spent;
    } else {
      end_ = SearchEnd::not_repeatable;
      unstable_ = set;
    }
  }

  /// Repeats the set first: code whose result alternates from run to run differs from itself in two
  /// runs that follow each other.
  void confirm(const ChangeSet& set) {
    repeat(set, Outcome::differs);
    repeat(ChangeSet(count_), Outcome::agrees);
  }

  /// Returns the first set that differs.
  std::optional<ChangeSet> first_of(const std::vector<ChangeSet>& sets) {
    for (const ChangeSet& set : sets) {
      if (outcome(set) == Outcome::differs) return set;
    }
    return std::nullopt;
  }

  /// Delta debugging: returns a differing part of a differing set, none of whose changes was seen
  /// to be superfluous.
  ChangeSet shrink(ChangeSet set) {
    for (std::size_t parts = 2; set.count() > 1 && !is_over();) {
      const std::vector<ChangeSet> pieces = split(set, parts);
      if (const auto piece = first_of(pieces)) {
        set = *piece;
        parts = 2;
        continue;
      }
      std::vector<ChangeSet> rests;
      if (parts > 2) {  // the rest of a half is the other half
        for (const ChangeSet& piece : pieces)
          rests.push_back(set - piece);
      }
      if (const auto rest = first_of(rests)) {
        set = *rest;
        parts = std::max<std::size_t>(parts - 1, 2);
      } else if (parts < set.count()) {
        parts = std::min(2 * parts, set.count());
      } else {
        break;
      }
    }
    return set;
  }

  void search_as_if_monotone() {
    std::optional<ChangeSet> differing = all_;
    while (differing && !is_over()) {
      const ChangeSet shrunk = shrink(*differing);
      if (!is_over()) confirm(shrunk);
      differing = is_over() ? std::nullopt : differing_elsewhere();
    }
  }

  /// Returns a differing set that contains no known one.
  std::optional<ChangeSet> differing_elsewhere() {
    std::optional<ChangeSet> differing;
    const std::vector<ChangeSet> family = found_;
    each_hitting_set(family, ChangeSet(count_), ChangeSet(count_), [&](const ChangeSet& hitting) {
      const ChangeSet rest = all_ - hitting;
      if (!is_in_agreeing(rest) && outcome(rest) == Outcome::differs) differing = rest;
      return !differing && !is_over();
    });
    return differing;
  }

  void search_by_size() {
    const auto try_set = [&](const ChangeSet& set) {
      if (outcome(set) == Outcome::differs) confirm(set);
      return !is_over();
    };
    const auto is_superset = [&](const ChangeSet& set) { return contains_found(set); };
    ChangeSet set(count_);
    for (std::size_t size = 1; size < count_ && !is_over(); ++size)
      each_of_size(set, 0, size, is_superset, try_set);
  }

  // ---- results

  SufficientSets result() {
    SufficientSets result;
    result.end = end_;
    result.unstable = unstable_;
    result.necessary = ChangeSet(count_);
    if (end_ != SearchEnd::searched && end_ != SearchEnd::spent) return result;
    std::ranges::sort(found_, is_before);
    for (const ChangeSet& set : found_)
      result.sets.push_back({set, is_minimal(set), confirmed_.contains(set)});
    for (const auto& [set, answer] : known_)
      add_known(set, answer, result);
    const bool all_confirmed = (result.sets.empty() || confirmed_.contains(ChangeSet(count_))) &&
                               std::ranges::all_of(result.sets, &SufficientSet::is_confirmed);
    const bool all_minimal = std::ranges::all_of(result.sets, &SufficientSet::is_minimal);
    const bool is_searched = end_ == SearchEnd::searched && all_confirmed;
    result.is_complete_if_monotone = all_confirmed && is_complete_if_monotone(result);
    const bool is_assumed = options_.assume_monotone && result.is_complete_if_monotone;
    const bool is_implied = options_.assume_monotone && is_complete_if_monotone(result);
    if (!is_implied) list_untried(result);
    if (!is_assumed) count_runs_left(result);
    result.is_complete = is_assumed || (is_searched && all_minimal && result.untried_count == 0 &&
                                        result.unresolved.empty());
    if (result.is_complete) {
      result.necessary = all_;
      for (const ChangeSet& set : found_)
        result.necessary &= set;
    }
    return result;
  }

  bool is_minimal(const ChangeSet& set) const {
    const std::size_t size = set.count();
    const auto agreeing = std::ranges::count_if(known_, [&](const auto& known) {
      return known.second == Outcome::agrees && known.first.is_proper_subset_of(set);
    });
    return size < 53 && static_cast<std::uint64_t>(agreeing) == (std::uint64_t{1} << size) - 1;
  }

  void add_known(const ChangeSet& set, Outcome answer, SufficientSets& result) const {
    if (contains_found(set)) {
      if (answer == Outcome::agrees) result.masking.push_back(set);
    } else if (answer == Outcome::failed) {
      result.failed.push_back(set);
    } else if (answer == Outcome::unresolved) {
      result.unresolved.push_back(set);
    }
  }

  void list_untried(SufficientSets& result) const {
    const auto tried = std::ranges::count_if(
        known_, [&](const auto& known) { return !contains_found(known.first); });
    std::size_t steps = 0;
    const std::uint64_t candidates = count_avoiding(found_, count_, steps);
    result.untried_count = candidates - static_cast<std::uint64_t>(tried);
    // A change masks another, against the assumption: this search tries no further set.
    if (options_.assume_monotone && end_ == SearchEnd::searched) return;
    const std::size_t most_steps = known_.size() + 10'000;
    steps = 0;
    const auto is_skipped = [&](const ChangeSet& set) {
      return ++steps > most_steps || contains_found(set);
    };
    const auto list = [&](const ChangeSet& set) {
      const bool is_implied = options_.assume_monotone && is_in_agreeing(set);
      if (!known_.contains(set) && !is_implied) result.untried.push_back(set);
      return result.untried.size() < SufficientSets::most_listed;
    };
    ChangeSet set(count_);
    for (std::size_t size = 0; size <= count_ && result.untried_count > result.untried.size();
         ++size) {
      if (!each_of_size(set, 0, size, is_skipped, list) || steps > most_steps) break;
    }
  }

  void count_runs_left(SufficientSets& result) const {
    // As in `list_untried`: another search tries the rest.
    if (options_.assume_monotone && end_ == SearchEnd::searched) return;
    const std::uint64_t sets = result.untried_count;
    std::uint64_t confirmations = confirmed_.contains(ChangeSet(count_)) ? 0 : 1;
    for (const SufficientSet& set : result.sets)
      confirmations += set.is_confirmed ? 0 : 1;
    result.runs_left = std::min(sets + confirmations, countless);
    const auto remade = std::ranges::count_if(
        known_, [](const auto& known) { return known.second == Outcome::unresolved; });
    result.most_runs_left =
        std::min(result.runs_left + sets + static_cast<std::uint64_t>(remade), countless);
  }

  /// Returns whether every set is known to contain a differing one, or is part of an agreeing one.
  bool is_complete_if_monotone(const SufficientSets& result) const {
    if (!result.masking.empty()) return false;
    for (const ChangeSet& set : found_) {
      for (auto i = set.find_first(); i != ChangeSet::npos; i = set.find_next(i)) {
        ChangeSet rest = set;
        if (!is_in_agreeing(rest.reset(i))) return false;
      }
    }
    const ChangeSet none(count_);
    return each_hitting_set(found_, none, none, [&](const ChangeSet& hitting) {
      return is_in_agreeing(all_ - hitting);
    });
  }

  std::size_t count_;
  const Oracle& oracle_;
  SearchOptions options_;
  ChangeSet all_;
  std::map<ChangeSet, Outcome> known_{};
  std::vector<ChangeSet> found_{};  ///< the minimal ones of those that differ
  std::set<ChangeSet> confirmed_{};
  SearchEnd end_ = SearchEnd::searched;
  ChangeSet unstable_{};
};

}  // namespace

SufficientSets find_sufficient_sets(std::size_t count,
                                    const Oracle& oracle,
                                    const SearchOptions& options) {
  return Search(count, oracle, options).run();
}

}  // namespace sabath::app
