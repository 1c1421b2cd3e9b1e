#include "support/errors.hpp"

#include <sabath/planning/plan_run.hpp>

using namespace sabath;
using planning::resolve_parameters;
using test::contains;
using test::error_of;

namespace {

spec::Recipe recipe() {
  return spec::parse_recipe(R"({"schema": 1, "name": "tiny",
    "parameters": {
      "epochs": {"type": "int", "default": 5, "min": 1},
      "learning_rate": {"type": "float", "default": 0.003},
      "verbose": {"type": "bool", "default": false},
      "reduction": {"type": "enum", "values": ["ordered", "fast"], "default": "ordered"}},
    "stages": [{"name": "one", "run": ["true", "{param.epochs}"]}]})",
                            "recipe.json");
}

}  // namespace

TEST_CASE("parameters: the defaults stand where nothing is set") {
  const spec::ParameterValues expected{{"epochs", std::int64_t{5}},
                                       {"learning_rate", 0.003},
                                       {"verbose", false},
                                       {"reduction", std::string("ordered")}};
  CHECK(resolve_parameters(recipe(), {}) == expected);
}

TEST_CASE("parameters: what is set has the type of its parameter") {
  const spec::ParameterValues values = resolve_parameters(
      recipe(),
      {{"epochs", "7"}, {"learning_rate", "1e-4"}, {"verbose", "true"}, {"reduction", "fast"}});
  const spec::ParameterValues expected{{"epochs", std::int64_t{7}},
                                       {"learning_rate", 1e-4},
                                       {"verbose", true},
                                       {"reduction", std::string("fast")}};
  CHECK(values == expected);
}

TEST_CASE("parameters: an unknown one suggests the nearest, or says what lists them") {
  const base::Error near = error_of([] { resolve_parameters(recipe(), {{"epoch", "7"}}); });
  CHECK(near.kind() == base::ErrorKind::usage);
  CHECK(contains(near.what(), "recipe 'tiny': no parameter 'epoch'"));
  CHECK(near.hint() == "did you mean 'epochs'?");
  const base::Error far = error_of([] { resolve_parameters(recipe(), {{"zzz", "7"}}); });
  CHECK(contains(far.hint(), "sabath show tiny"));
  const base::Error at = error_of([] { resolve_parameters(recipe(), {{"zzz", "7"}}, "./tiny"); });
  CHECK(at.hint() == "'sabath show ./tiny' lists them");
}

TEST_CASE("parameters: one that the recipe fixes cannot be set, and has its default") {
  spec::Recipe fixed = recipe();
  fixed.fixed = {"epochs"};
  CHECK(std::get<std::int64_t>(resolve_parameters(fixed, {}).at("epochs")) == 5);
  const base::Error error = error_of([&] { resolve_parameters(fixed, {{"epochs", "7"}}); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "parameter 'epochs': is fixed"));
}

TEST_CASE("parameters: several values of one parameter are a sweep") {
  const base::Error error = error_of([] { resolve_parameters(recipe(), {{"epochs", "1,2"}}); });
  CHECK(error.hint() == "'--sweep epochs=1,2' makes a run of each value");
  const base::Error wrong = error_of([] { resolve_parameters(recipe(), {{"epochs", "1,x"}}); });
  CHECK_FALSE(contains(wrong.hint(), "--sweep"));
}

TEST_CASE("parameters: all problems are told at once") {
  const base::Error error = error_of([] {
    resolve_parameters(recipe(),
                       {{"epoch", "7"}, {"epochs", "0"}, {"reduction", "quick"}, {"verbose", "1"}});
  });
  CHECK(error.kind() == base::ErrorKind::usage);
  const std::string text = error.what();
  for (const char* part : {"'epoch'", "epochs", "reduction", "verbose"})
    CHECK(contains(text, part));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}
