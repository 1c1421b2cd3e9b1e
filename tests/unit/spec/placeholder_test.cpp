#include "spec/placeholder.hpp"

#include "problem_text.hpp"

#include <sabath/spec/recipe.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using spec::expand;
using spec::placeholders_of;
using test::problem_of;

using Values = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

TEST_CASE("placeholder: names are found, doubled braces are not") {
  CHECK(placeholders_of("--n={param.epochs}") == Names{"param.epochs"});
  CHECK(placeholders_of("{a}{b-c.d_e}x{a}") == Names{"a", "b-c.d_e", "a"});
  CHECK(placeholders_of("{{param.epochs}}").empty());
  CHECK(placeholders_of("").empty());
  CHECK(placeholders_of("{{{seed}}}") == Names{"seed"});
}

TEST_CASE("placeholder: values replace names and doubled braces become braces") {
  const Values values{{"seed", "7"}, {"param.epochs", "{seed}"}, {"output", ""}};
  CHECK(expand("--seed={seed}", values, "here") == "--seed=7");
  CHECK(expand("{{\"n\": {seed}}}", values, "here") == "{\"n\": 7}");
  CHECK(expand("[{output}]", values, "here") == "[]");
  CHECK(expand("}}{{", values, "here") == "}{");
  // What a value holds is not expanded again.
  CHECK(expand("{param.epochs}", values, "here") == "{seed}");
}

TEST_CASE("placeholder: an unknown name suggests the nearest") {
  const Values values{{"param.epochs", "5"}, {"seed", "7"}};
  const auto problem = problem_of([&] { expand("{parm.epochs}", values, "stage 'train'"); });
  CHECK(problem.kind == base::ErrorKind::usage);
  CHECK(problem.text == "stage 'train': unknown placeholder '{parm.epochs}'");
  CHECK(problem.hint == "did you mean '{param.epochs}'?");
  const auto far = problem_of([&] { expand("{HOME}", values, "x"); });
  CHECK(far.hint == "known are {param.epochs}, {seed}; for literal braces write '{{HOME}}'");
  const auto bare = problem_of([&] { expand("{epochs}", values, "x"); });
  CHECK(bare.hint == "did you mean '{param.epochs}'?");
  const auto problems = spec::template_problems("{x}", {{"prefix"}, {"env."}});
  CHECK(problems.at(0).hint == "known are {prefix}, {env.NAME}; for literal braces write '{{x}}'");
}

TEST_CASE("placeholder: a single brace is refused with the hint to double it") {
  for (const char* text : {"{", "a{", "{ seed}", "{seed", "{}", "{se ed}", "${x"}) {
    INFO(text);
    const auto problem = problem_of([&] { expand(text, {{"seed", "7"}}, "x"); });
    CHECK(problem.text == "x: a single '{' that is not part of a placeholder");
    CHECK(problem.hint == "for a literal brace write '{{'");
  }
  CHECK(problem_of([] { expand("a}", {}, "x"); }).hint == "for a literal brace write '}}'");
}
