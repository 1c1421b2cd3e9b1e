#include "support/errors.hpp"

#include <sabath/app/explain_pair.hpp>
#include <sabath/app/perturbation.hpp>

using namespace sabath;
using Set = std::set<std::size_t>;
using test::contains;
using test::error_of;

namespace {

bool includes(const Set& changes, const Set& wanted) {
  return std::includes(changes.begin(), changes.end(), wanted.begin(), wanted.end());
}

/// Searches for `wanted` among `count` changes; `asked` counts the sets that were tried.
app::SmallestChange search(std::size_t count, const Set& wanted, std::size_t& asked) {
  std::set<Set> tried;
  const auto found = app::smallest_change(count, [&](const Set& changes) {
    tried.insert(changes);
    return includes(changes, wanted) ? app::Happened::yes : app::Happened::no;
  });
  asked = tried.size();
  CHECK_FALSE(tried.contains(Set{}));
  return found;
}

app::RunRequest request(const std::string& parameter) {
  app::RunRequest made;
  made.recipe = spec::parse_recipe(R"({"schema": 1, "name": "tiny", "parameters": {)" + parameter +
                                       R"(}, "stages": [{"name": "one", "run": ["true"]}]})",
                                   "recipe.json");
  made.seed = 1;
  return made;
}

}  // namespace

TEST_CASE("explain: one change among many is found by halves") {
  for (std::size_t change = 0; change < 16; ++change) {
    std::size_t asked = 0;
    CHECK(search(16, {change}, asked).changes == Set{change});
    CHECK(asked <= 8);
  }
}

TEST_CASE("explain: changes that only matter together are all found, and none besides") {
  std::size_t asked = 0;
  CHECK(search(8, {1, 6}, asked).changes == Set{1, 6});
  CHECK(search(8, {0, 3, 7}, asked).changes == Set{0, 3, 7});
  CHECK(search(3, {0, 1, 2}, asked).changes == Set{0, 1, 2});
  CHECK(search(1, {0}, asked).changes == Set{0});
  CHECK(asked == 0);
}

TEST_CASE("explain: where the search must end what is known is told") {
  int left = 2;
  const auto found = app::smallest_change(8, [&](const Set& changes) {
    if (left-- == 0) return app::Happened::ended;
    return changes.contains(5) ? app::Happened::yes : app::Happened::no;
  });
  CHECK_FALSE(found.is_over);
  CHECK(found.changes == Set{4, 5, 6, 7});
}

TEST_CASE("explain: what cannot be tried does not end the search") {
  // Change 2 works only together with 6: alone it breaks.
  const auto broken = [](const Set& changes) { return changes.contains(2) != changes.contains(6); };
  const auto happens = [&](const Set& cause) {
    return [&broken, cause](const Set& changes) {
      if (broken(changes)) return app::Happened::unknown;
      return includes(changes, cause) ? app::Happened::yes : app::Happened::no;
    };
  };
  const auto beside = app::smallest_change(8, happens({4}));
  CHECK(beside.is_over);
  CHECK(beside.changes == Set{4});
  CHECK(beside.untried.empty());
  const auto among = app::smallest_change(8, happens({6}));
  CHECK(among.is_over);
  CHECK(among.changes == Set{2, 6});
  CHECK(among.untried == std::vector<Set>{{2}, {6}});
}

TEST_CASE("perturb: each run has a number of its own") {
  const auto lists =
      app::perturbed_runs(request(R"("perturb_1ulp": {"type": "int", "default": 0})"), "1ulp", 3);
  const std::vector<spec::ParameterValue> numbers{
      std::int64_t{1}, std::int64_t{2}, std::int64_t{3}};
  CHECK(lists.at("perturb_1ulp") == numbers);
}

TEST_CASE(
    "perturb: recipes that cannot, and requests that say too little or too much, are refused") {
  const auto refused = [](app::RunRequest asked, const std::string& kind = "1ulp") {
    return error_of([&] { app::perturbed_runs(asked, kind, 1); });
  };
  CHECK(contains(refused(request("")).what(), "cannot do that"));
  CHECK(contains(refused(request(R"("perturb_1ulp": {"type": "int", "default": 1})")).what(),
                 "cannot do that"));
  app::RunRequest good = request(R"("perturb_1ulp": {"type": "int", "default": 0})");
  CHECK(contains(refused(good, "2ulp").what(), "unknown"));
  app::RunRequest set = good;
  set.set["perturb_1ulp"] = "4";
  CHECK(contains(refused(set).what(), "already"));
  good.seed.reset();
  CHECK(contains(refused(good).what(), "--seed"));
}
