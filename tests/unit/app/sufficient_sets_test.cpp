// Every answer of the search is held against the whole truth table.
#include "app/sufficient_sets.hpp"

#include "support/random_losses.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

using namespace sabath::app;

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// The outcome of each set of changes, by its bits.
using Table = std::vector<Outcome>;

ChangeSet set_of(std::size_t count, std::initializer_list<std::size_t> changes) {
  ChangeSet set(count);
  for (const std::size_t change : changes)
    set.set(change);
  return set;
}

std::size_t changes_in(const Table& table) {
  std::size_t count = 0;
  while ((std::size_t{1} << count) < table.size())
    ++count;
  return count;
}

/// What a search was answered, and its answer.
struct Asked {
  std::set<ChangeSet> tried{};
  std::set<ChangeSet> repeated{};
  SufficientSets answer{};

  std::size_t runs() const { return tried.size() + repeated.size(); }
};

Asked search(const Table& table, std::size_t budget = no_limit, SearchOptions options = {}) {
  Asked asked;
  const auto ask = [&](const ChangeSet& set, std::set<ChangeSet>& sets) {
    if (asked.runs() >= budget) return Outcome::not_made;
    CHECK(sets.insert(set).second);  // each once
    return table.at(set.to_ulong());
  };
  const Oracle oracle{[&](const ChangeSet& set) { return ask(set, asked.tried); },
                      [&](const ChangeSet& set) { return ask(set, asked.repeated); }};
  asked.answer = find_sufficient_sets(changes_in(table), oracle, options);
  return asked;
}

std::vector<ChangeSet> sets_of(const SufficientSets& answer) {
  std::vector<ChangeSet> sets;
  for (const SufficientSet& set : answer.sets)
    sets.push_back(set.changes);
  std::sort(sets.begin(), sets.end());
  return sets;
}

bool contains_one(const std::vector<ChangeSet>& sets, const ChangeSet& set) {
  return std::any_of(
      sets.begin(), sets.end(), [&](const ChangeSet& part) { return part.is_subset_of(set); });
}

/// The sets that differ and have no part that differs, by looking at all.
std::vector<ChangeSet> minimal_sets(const Table& table) {
  std::vector<ChangeSet> sets;
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    const auto is_smaller = [&](std::size_t other) {
      return (other & bits) == other && other != bits && table[other] == Outcome::differs;
    };
    bool is_minimal = table[bits] == Outcome::differs;
    for (std::size_t other = 0; other < bits && is_minimal; ++other)
      is_minimal = !is_smaller(other);
    if (is_minimal) sets.emplace_back(changes_in(table), bits);
  }
  return sets;
}

ChangeSet in_all(const std::vector<ChangeSet>& sets, std::size_t count) {
  ChangeSet all = ChangeSet(count).set();
  for (const ChangeSet& set : sets)
    all &= set;
  return all;
}

bool is_monotone(const Table& table) {
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    for (std::size_t change = 1; change < table.size(); change *= 2) {
      if (table[bits] == Outcome::differs && table[bits | change] != Outcome::differs) return false;
    }
  }
  return true;
}

/// Each claim of the answer follows from what was tried.
void check_claims(const Table& table, const Asked& asked) {
  const std::size_t count = changes_in(table);
  const SufficientSets& answer = asked.answer;
  const std::vector<ChangeSet> sets = sets_of(answer);
  for (const SufficientSet& set : answer.sets) {
    CHECK(asked.tried.contains(set.changes));
    CHECK(table[set.changes.to_ulong()] == Outcome::differs);
    CHECK(set.is_confirmed == asked.repeated.contains(set.changes));
    bool all_agree = true;
    for (std::size_t bits = 0; bits < table.size(); ++bits) {
      const ChangeSet part(count, bits);
      if (part.is_proper_subset_of(set.changes))
        all_agree = all_agree && asked.tried.contains(part) && table[bits] == Outcome::agrees;
    }
    CHECK(set.is_minimal == all_agree);
  }
  std::size_t untried = 0;
  std::size_t open = 0;
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    const ChangeSet set(count, bits);
    const bool is_tried = asked.tried.contains(set);
    if (contains_one(sets, set)) continue;
    if (!is_tried) ++untried;
    if (is_tried && table[bits] != Outcome::agrees) ++open;
  }
  CHECK(answer.untried_count == untried);
  CHECK(answer.untried.size() == std::min(untried, SufficientSets::most_listed));
  CHECK(answer.failed.size() + answer.unresolved.size() == open);
  if (answer.is_complete) {
    CHECK(sets == minimal_sets(table));
    CHECK(answer.necessary == in_all(sets, count));
    CHECK(answer.runs_left == 0);
  } else {
    CHECK(answer.necessary.none());
  }
  if (answer.is_complete_if_monotone && is_monotone(table)) CHECK(sets == minimal_sets(table));
}

bool ends_early(const SufficientSets& answer) {
  return answer.end != SearchEnd::searched && answer.end != SearchEnd::spent;
}

Table random_losses(std::size_t count, std::mt19937& random) {
  const sabath::test::Losses losses = sabath::test::searchable_losses(count, random);
  Table table;
  for (std::size_t bits = 0; bits < std::size_t{1} << count; ++bits)
    table.push_back(losses.loss(bits) == 0 ? Outcome::agrees : Outcome::differs);
  return table;
}

Table random_outcomes(std::size_t count, std::mt19937& random) {
  Table table(std::size_t{1} << count);
  std::discrete_distribution<int> kind{6.0, 2.0, 1.0, 0.5};
  for (Outcome& outcome : table)
    outcome = static_cast<Outcome>(kind(random));
  table.front() = Outcome::agrees;
  table.back() = Outcome::differs;
  return table;
}

Table table_where(std::size_t count, const std::function<bool(const ChangeSet&)>& differs) {
  Table table;
  for (std::size_t bits = 0; bits < std::size_t{1} << count; ++bits)
    table.push_back(differs(ChangeSet(count, bits)) ? Outcome::differs : Outcome::agrees);
  return table;
}

}  // namespace

TEST_CASE("sufficient sets: 10,000 random losses, each answer is that of the truth table") {
  std::mt19937 random(20261123);
  std::size_t several = 0;
  std::size_t masked = 0;
  for (int round = 0; round < 10'000; ++round) {
    const Table table = random_losses(1 + random() % 6, random);
    const Asked asked = search(table);
    REQUIRE(asked.answer.is_complete);
    REQUIRE(sets_of(asked.answer) == minimal_sets(table));
    REQUIRE(asked.answer.untried_count == 0);
    several += asked.answer.sets.size() > 1 ? 1 : 0;
    masked += is_monotone(table) ? 0 : 1;
  }
  CHECK(several > 2'000);
  CHECK(masked > 2'000);
}

TEST_CASE("sufficient sets: with each budget the answer claims only what was tried") {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 6;
    const Table table =
        round % 2 == 0 ? random_losses(count, random) : random_outcomes(count, random);
    const std::size_t all = search(table).runs();
    for (std::size_t budget = 0; budget <= all; ++budget) {
      INFO("round " << round << ", budget " << budget);
      const Asked asked = search(table, budget);
      CHECK(asked.runs() == budget);
      CHECK((asked.answer.end == SearchEnd::spent) == (budget < all));
      check_claims(table, asked);
    }
  }
}

/// The search again, where what an earlier one asked costs nothing.
Asked search_on(const Table& table, const Asked& before, std::size_t budget) {
  Asked asked;
  const auto ask =
      [&](const ChangeSet& set, const std::set<ChangeSet>& known, std::set<ChangeSet>& sets) {
        const Outcome outcome = table.at(set.to_ulong());
        // What could not be made is made again.
        if (known.contains(set) && outcome != Outcome::unresolved) return outcome;
        if (asked.runs() >= budget) return Outcome::not_made;
        sets.insert(set);
        return outcome;
      };
  const Oracle oracle{
      [&](const ChangeSet& set) { return ask(set, before.tried, asked.tried); },
      [&](const ChangeSet& set) { return ask(set, before.repeated, asked.repeated); }};
  asked.answer = find_sufficient_sets(changes_in(table), oracle);
  return asked;
}

TEST_CASE("sufficient sets: the most runs that are left, with confirming ones, are enough") {
  std::mt19937 random(23);
  std::size_t more = 0;
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 5;
    const Table table =
        round % 2 == 0 ? random_losses(count, random) : random_outcomes(count, random);
    const std::size_t all = search(table).runs();
    for (std::size_t budget = 2; budget < all; ++budget) {
      INFO("round " << round << ", budget " << budget);
      const Asked part = search(table, budget);
      const Asked rest = search_on(table, part, part.answer.most_runs_left);
      CHECK(rest.answer.end == SearchEnd::searched);
      more += rest.runs() > part.answer.runs_left ? 1 : 0;
    }
  }
  CHECK(more > 100);  // confirming runs count
}

TEST_CASE("sufficient sets: what was tried within a budget is what a larger one begins with") {
  std::mt19937 random(18);
  for (int round = 0; round < 100; ++round) {
    const Table table = random_losses(1 + random() % 6, random);
    const Asked whole = search(table);
    const Asked part = search(table, whole.runs() / 2);
    CHECK(std::includes(
        whole.tried.begin(), whole.tried.end(), part.tried.begin(), part.tried.end()));
  }
}

TEST_CASE("sufficient sets: two changes that each suffice are both found") {
  const Table table = table_where(2, [](const ChangeSet& set) { return set.any(); });
  const SufficientSets answer = search(table).answer;
  CHECK(answer.is_complete);
  CHECK(sets_of(answer) == std::vector<ChangeSet>{set_of(2, {0}), set_of(2, {1})});
  CHECK(answer.necessary.none());
}

TEST_CASE("sufficient sets: a change that another one masks is found") {
  // Of 6: 0 matters; 1 only without 2, so that all but 0 agree.
  const Table table = table_where(
      6, [](const ChangeSet& set) { return set.test(0) || (set.test(1) && !set.test(2)); });
  const SufficientSets answer = search(table).answer;
  CHECK(answer.is_complete);
  CHECK(sets_of(answer) == std::vector<ChangeSet>{set_of(6, {0}), set_of(6, {1})});
  SECTION("but not where nothing may mask") {
    const SufficientSets assumed = search(table, no_limit, {true}).answer;
    CHECK(sets_of(assumed) == std::vector<ChangeSet>{set_of(6, {0})});
  }
}

TEST_CASE("sufficient sets: of monotone outcomes the assumption finds all, with few runs") {
  std::mt19937 random(19);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 8;
    std::vector<ChangeSet> causes;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      const std::size_t all = (std::size_t{1} << count) - 1;
      causes.emplace_back(count, std::max<std::size_t>(1, random() & random() & all));
    }
    const Table table =
        table_where(count, [&](const ChangeSet& set) { return contains_one(causes, set); });
    const Asked asked = search(table, no_limit, {true});
    CHECK(asked.answer.is_complete);
    CHECK(asked.answer.untried_count == 0);
    CHECK(sets_of(asked.answer) == minimal_sets(table));
    for (std::size_t budget = 0; budget < asked.runs(); ++budget)
      CHECK_FALSE(search(table, budget, {true}).answer.is_complete);
  }
  const Table single = table_where(16, [](const ChangeSet& set) { return set.test(11); });
  const Asked asked = search(single, no_limit, {true});
  CHECK(asked.answer.is_complete);
  CHECK(asked.runs() <= 12);
}

TEST_CASE("sufficient sets: one among 40 changes is found within a budget, and what is left") {
  std::size_t runs = 0;
  const auto ask = [&](const ChangeSet& set) {
    if (runs == 20) return Outcome::not_made;
    ++runs;
    return set.test(29) ? Outcome::differs : Outcome::agrees;
  };
  const SufficientSets answer = find_sufficient_sets(40, {ask, ask});
  CHECK(answer.end == SearchEnd::spent);
  CHECK(sets_of(answer) == std::vector<ChangeSet>{set_of(40, {29})});
  CHECK(answer.sets[0].is_minimal);
  CHECK(answer.sets[0].is_confirmed);
  CHECK_FALSE(answer.is_complete);
  CHECK(answer.untried_count > 500'000'000'000);
  CHECK(answer.untried_count < 549'755'813'888);  // 2^39
  CHECK(answer.untried.size() == SufficientSets::most_listed);
}

TEST_CASE("sufficient sets: what one among 2^40 sets leaves is not looked for without end") {
  const std::size_t count = 40;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t runs = 0;
  const auto ask = [&](const ChangeSet& set) {
    if (runs == most) return Outcome::not_made;
    ++runs;
    return set.all() ? Outcome::differs : Outcome::agrees;
  };
  const auto repeat = [&](const ChangeSet& set) {
    if (most != std::numeric_limits<std::size_t>::max()) return Outcome::not_made;
    return ask(set);
  };
  REQUIRE(find_sufficient_sets(count, {ask, repeat}, {true}).is_complete);
  const std::size_t all = runs - 2;  // without the confirming ones
  SECTION("all sets are implied, and only confirming runs are missing") {
    most = all;
    runs = 0;
    const SufficientSets answer = find_sufficient_sets(count, {ask, repeat}, {true});
    CHECK(answer.end == SearchEnd::spent);
    CHECK(answer.untried_count == 0);
    CHECK(answer.runs_left == 2);
    CHECK(answer.most_runs_left == 2);
  }
  SECTION("nearly all sets are implied") {
    most = all - 1;
    runs = 0;
    const SufficientSets answer = find_sufficient_sets(count, {ask, repeat}, {true});
    CHECK(answer.end == SearchEnd::spent);
    CHECK(answer.untried_count > 1'000'000);
    CHECK(answer.untried.size() <= SufficientSets::most_listed);
  }
}

TEST_CASE(
    "sufficient sets: what fails beside them leaves them known, what fails in them does not") {
  Table table = table_where(2, [](const ChangeSet& set) { return set.test(0); });
  SECTION("beside") {
    table[2] = Outcome::failed;
    const SufficientSets answer = search(table).answer;
    CHECK(answer.is_complete);
    CHECK(answer.failed == std::vector<ChangeSet>{set_of(2, {1})});
  }
  SECTION("beside, without a verdict") {
    table[2] = Outcome::unresolved;
    CHECK_FALSE(search(table).answer.is_complete);
  }
  SECTION("in them") {
    table[1] = Outcome::failed;
    const SufficientSets answer = search(table).answer;
    CHECK_FALSE(answer.is_complete);
    CHECK(sets_of(answer) == std::vector<ChangeSet>{set_of(2, {0, 1})});
    CHECK_FALSE(answer.sets[0].is_minimal);
  }
}

TEST_CASE(
    "sufficient sets: where A or A with all changes is not as it must be, nothing is searched") {
  const auto end_of = [](Outcome again, Outcome with_all) {
    const Asked asked = search({again, Outcome::differs, Outcome::differs, with_all});
    CHECK(asked.runs() <= 2);
    CHECK(asked.answer.sets.empty());
    CHECK(ends_early(asked.answer));
    return asked.answer.end;
  };
  CHECK(end_of(Outcome::differs, Outcome::differs) == SearchEnd::a_differs);
  CHECK(end_of(Outcome::failed, Outcome::differs) == SearchEnd::a_unresolved);
  CHECK(end_of(Outcome::agrees, Outcome::agrees) == SearchEnd::all_agree);
  CHECK(end_of(Outcome::agrees, Outcome::unresolved) == SearchEnd::all_unresolved);
}

TEST_CASE("sufficient sets: what does not come out again as before ends the search") {
  const ChangeSet unstable = GENERATE(set_of(2, {}), set_of(2, {1}));
  const auto ask = [](const ChangeSet& set) {
    return set.any() ? Outcome::differs : Outcome::agrees;
  };
  const auto repeat = [&](const ChangeSet& set) {
    if (set != unstable) return ask(set);
    return set.any() ? Outcome::agrees : Outcome::differs;
  };
  const SufficientSets answer = find_sufficient_sets(2, {ask, repeat});
  CHECK(answer.end == SearchEnd::not_repeatable);
  CHECK(answer.unstable == unstable);
  CHECK(answer.sets.empty());
  CHECK_FALSE(answer.is_complete);
}

TEST_CASE("sufficient sets: a result that alternates from run to run has no cause") {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    std::size_t runs = 0;  // A itself was the run before
    const auto ask = [&](const ChangeSet&) {
      return ++runs % 2 == 0 ? Outcome::differs : Outcome::agrees;
    };
    const SufficientSets answer = find_sufficient_sets(count, {ask, ask});
    INFO(count);
    CHECK(answer.end == SearchEnd::not_repeatable);
    CHECK_FALSE(answer.is_complete);
  }
}
