// What `explain` prints of sets that were not tried.
#include <sabath/report/text.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;

namespace {

spec::Explanation within_a_budget(const spec::UntriedChanges& untried) {
  spec::Explanation explanation;
  explanation.untried = untried;
  explanation.reason = "the budget is spent";
  return explanation;
}

constexpr std::uint64_t countless = std::uint64_t{1} << 53U;

}  // namespace

TEST_CASE("explanation: the budget that is printed has the confirming runs") {
  CHECK_THAT(report::explanation_text(within_a_budget({2, {{"x"}, {"x", "y"}}, 3, 6.0, 5})),
             Contains("2 sets of changes: x; x, y\n") &&
                 Contains("at most 5 runs, about 10.0 s: the same command with --budget 5\n"));
}

TEST_CASE("explanation: one set and one run are told in the singular") {
  CHECK_THAT(report::explanation_text(within_a_budget({1, {{"x"}}, 1, {}, 1})),
             Contains("1 set of changes: x\n") &&
                 Contains("at most 1 run: the same command with --budget 1\n") &&
                 !Contains("1 runs") && !Contains("1 sets"));
}

TEST_CASE("explanation: how many sets are not listed is told") {
  spec::UntriedChanges untried{12, {}, 12, {}, 24};
  CHECK_THAT(report::explanation_text(within_a_budget(untried)),
             Contains("12 sets of changes, not listed\n"));
  untried.smallest.assign(7, {"x"});
  CHECK_THAT(report::explanation_text(within_a_budget(untried)),
             Contains("12 sets of changes: x; x; x; x; x; 7 more not listed\n"));
}

TEST_CASE("explanation: a budget that no command takes is not printed") {
  const spec::UntriedChanges most{countless, {{"x"}}, countless, 1e15, countless};
  CHECK_THAT(
      report::explanation_text(within_a_budget(most)),
      Contains("more than 10^15 sets of changes: x; the others are not listed\n") &&
          Contains(
              "perhaps more than 10^15 runs: too many for one command; --assume-monotone needs "
              "fewer\n") &&
          !Contains("--budget"));
  spec::Explanation many = within_a_budget({6'000, {{"x"}}, 6'000, {}, 12'000});
  many.assumed = "monotone";
  CHECK_THAT(report::explanation_text(many),
             Contains("at most 12000 runs: too many for one command\n"));
}

TEST_CASE("explanation: what is necessary is unknown where a set that failed could change it") {
  spec::Explanation explanation;
  explanation.complete = true;
  explanation.sufficient = {{{"parameter order"}, true, true}};
  explanation.failed = {{"parameter threads"}};
  explanation.necessary.reset();
  explanation.maybe_necessary = spec::ChangeNames{"parameter order"};
  CHECK_THAT(report::explanation_text(explanation),
             Contains("necessary   unknown, since A failed with parameter threads; in every "
                      "sufficient set that is known: parameter order\n") &&
                 !Contains("none"));
  explanation.failed.assign(5, {"x", "y"});
  CHECK_THAT(report::explanation_text(explanation),
             Contains("A failed with x, y; x, y; x, y; 2 more; in every sufficient set"));
  explanation.necessary = spec::ChangeNames();
  explanation.maybe_necessary.reset();
  CHECK_THAT(report::explanation_text(explanation),
             Contains("necessary   none: no change is in every sufficient set\n"));
}
