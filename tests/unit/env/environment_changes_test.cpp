#include "env/store/environment_changes.hpp"

#include "env/layers/layer_variables.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Strings = std::vector<std::string>;

TEST_CASE("changes of variables: a list that grew keeps what was in it by name") {
  const auto changes = env::changes_between(
      {{"PATH", "/usr/bin:/bin"}, {"MANPATH", "/man"}, {"SAME", "1"}},
      {{"PATH", "/new:/usr/bin:/bin"}, {"MANPATH", "/man:/more"}, {"SAME", "1"}});
  CHECK(changes.sets == std::map<std::string, std::string>{{"MANPATH", "${MANPATH}:/more"},
                                                           {"PATH", "/new:${PATH}"}});
  CHECK(changes.unsets.empty());
}

TEST_CASE("changes of variables: doubles that were dropped on the way make no difference") {
  const auto changes = env::changes_between({{"PATH", "/a:/b:/a"}}, {{"PATH", "/new:/a:/b"}});
  CHECK(changes.sets.at("PATH") == "/new:${PATH}");
}

TEST_CASE("changes of variables: what is not the old list any more is set as it is") {
  const auto changes = env::changes_between({{"PATH", "/a:/b"}, {"PLACE", "here"}},
                                            {{"PATH", "/b:/a"}, {"PLACE", "there"}});
  CHECK(changes.sets == std::map<std::string, std::string>{{"PATH", "/b:/a"}, {"PLACE", "there"}});
}

TEST_CASE("changes of variables: done again they give the same, dollars too") {
  const base::Environment before{{"PATH", "/usr/bin"}, {"GONE", "1"}};
  const base::Environment after{
      {"PATH", "/$odd/bin:/usr/bin"}, {"PRICE", "5$ or ${PATH}"}, {"EMPTY", ""}};
  const auto changes = env::changes_between(before, after);
  CHECK(changes.unsets == Strings{"GONE"});
  base::Environment again = before;
  for (const auto& name : changes.unsets)
    again.erase(name);
  env::set_own_variables(again, changes.sets, "x");
  CHECK(again == after);
}

TEST_CASE("changes of variables: what shells and module systems note for themselves is left out") {
  const auto changes = env::changes_between(
      {{"SHLVL", "1"}, {"__LMOD_REF_COUNT_PATH", "x"}},
      {{"SHLVL", "2"}, {"_ModuleTable001_", "x"}, {"BASH_FUNC_module%%", "() {}"}, {"_", "env"}});
  CHECK(changes.sets.empty());
  CHECK(changes.unsets.empty());
}
