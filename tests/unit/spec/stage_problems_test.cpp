#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::parsed;
using test::Problem;
using test::problem_of;
using test::small_recipe;

namespace {

/// The problem of the small recipe when one stage has another value at `key`.
Problem with(std::size_t stage, const char* key, const nlohmann::ordered_json& value) {
  auto document = small_recipe();
  document["stages"][stage][key] = value;
  return problem_of([&] { parsed(document); });
}

}  // namespace

TEST_CASE("stage: an unknown placeholder is named with its place and the nearest one") {
  const auto problem = with(0, "run", {"a", "b", "--n={parm.epochs}"});
  CHECK(problem.kind == base::ErrorKind::usage);
  CHECK(problem.text == "recipes/x.json:/stages/0/run/2: unknown placeholder '{parm.epochs}'");
  CHECK(problem.hint == "did you mean '{param.epochs}'?");
}

TEST_CASE("stage: placeholders of the shell form are checked too") {
  CHECK(with(0, "run", {{"shell", "echo {outputs}"}}).text ==
        "recipes/x.json:/stages/0/run/shell: unknown placeholder '{outputs}'");
  CHECK(with(0, "run", {{"shell", "awk '{ print }'"}})
            .says("/stages/0/run/shell: a single '{' that is not part of a placeholder"));
}

TEST_CASE("stage: only known placeholders are known") {
  for (const char* name : {"recipe",
                           "code",
                           "env",
                           "env.code",
                           "output",
                           "run",
                           "seed",
                           "param.epochs",
                           "dataset.train",
                           "stage.simulate"}) {
    INFO(name);
    auto document = small_recipe();
    document["stages"][1]["run"] = {"p", "{" + std::string(name) + "}"};
    CHECK_NOTHROW(parsed(document));
  }
  for (const char* name : {"asset",
                           "arg.n",
                           "env.other",
                           "param.x",
                           "dataset.test",
                           "stage.none",
                           "param",
                           "SEED",
                           "seed."}) {
    INFO(name);
    CHECK(with(1, "run", {"p", "{" + std::string(name) + "}"}).says("unknown placeholder"));
  }
}

TEST_CASE("stage: without a layer that has a prefix there is no {env}") {
  auto document = small_recipe();
  document["environment"] = {{"layers", {{{"kind", "host"}, {"commands", {"cc"}}}}}};
  const auto problem = problem_of([&] { parsed(document); });
  CHECK(problem.says("/stages/0/run/0: unknown placeholder '{env}'"));
  CHECK(problem.says("/stages/1/run/0: unknown placeholder '{env.code}'"));
}

TEST_CASE("stage: the outputs of a stage that is not needed may not be used") {
  const auto problem = with(0, "run", {"p", "{stage.train}/weights.h5"});
  CHECK(problem.text ==
        "recipes/x.json:/stages/0/run/1: '{stage.train}' is used, but stage 'simulate' does not "
        "need 'train'");
  CHECK(problem.hint == "add it to \"needs\"");
  CHECK(with(1, "run", {"p", "{stage.train}"}).says("stage 'train' does not need 'train'"));
}

TEST_CASE("stage: needs name stages, without circles") {
  const auto unknown = with(1, "needs", {"simulate", "simulat"});
  CHECK(unknown.text == "recipes/x.json:/stages/1/needs/1: no stage 'simulat'");
  CHECK(unknown.hint == "did you mean 'simulate'?");
  const auto circle = with(0, "needs", {"train"});
  CHECK(circle.lines() == 2);
  CHECK(circle.says("/stages/0/needs: stage 'simulate' needs itself, directly or through others"));
  CHECK(with(0, "needs", {"simulate"}).says("/stages/0/needs: stage 'simulate' needs itself"));
  CHECK(with(1, "needs", {"simulate", "simulate"}).says("/stages/1/needs/1: 'simulate' stands"));
}

TEST_CASE("stage: two of one name are refused") {
  CHECK(with(1, "name", "simulate").says("/stages/1/name: two stages are called 'simulate'"));
  CHECK(with(1, "name", "../x").says("/stages/1/name: '../x' is not a name"));
}

TEST_CASE("stage: outputs stay in their folder") {
  for (const char* path : {"../x", "/x", "a/../../x", ""}) {
    CHECK(with(0, "outputs", nlohmann::ordered_json::array({path}))
              .says("/stages/0/outputs/0: '" + std::string(path) + "' is not a relative path"));
  }
  CHECK(with(0, "outputs", {"x.h5", "x.h5"}).says("/stages/0/outputs/1: 'x.h5' stands twice"));
  CHECK(with(0, "outputs", nlohmann::ordered_json::array({"**/x.h5"}))
            .says("/stages/0/outputs/0: '**/x.h5' has '**'"));
}

TEST_CASE("stage: run is an argument vector or says that it wants a shell") {
  const auto text = with(0, "run", "echo hello");
  CHECK(text.text ==
        "recipes/x.json:/stages/0/run: must be an array of strings, the argument vector");
  CHECK(text.hint == "a command for the shell is {\"shell\": \"...\"}");
  CHECK(with(0, "run", nlohmann::ordered_json::array()).says("/stages/0/run: names no program"));
  CHECK(with(0, "run", {""}).says("/stages/0/run: names no program"));
  CHECK(with(0, "run", {"a", 1}).says("/stages/0/run/1: must be a string"));
  CHECK(with(0, "run", {{"shel", "x"}}).says("/stages/0/run/shel: unknown key 'shel'"));
  CHECK(with(0, "run", {"a", std::string("b\0c", 3)}).says("must not contain the character NUL"));
}

TEST_CASE("stage: wrong types and words are told") {
  CHECK(with(0, "cache", "yes").says("/stages/0/cache: must be true or false"));
  CHECK(with(0, "code", "move").says("/stages/0/code: 'move' is not one of copy"));
  CHECK(with(0, "needs", "simulate").says("/stages/0/needs: must be an array, not string"));
}

TEST_CASE("stage: outputs stay in their folder, patterns and folders too") {
  const auto problem = with(0, "outputs", {"x.h5", "../ckpt-*.pt", "/model/", "model/"});
  CHECK(problem.says("/stages/0/outputs/1: '../ckpt-*.pt' is not a relative path"));
  CHECK(problem.says("/stages/0/outputs/2: '/model/' is not a relative path"));
  CHECK(problem.lines() == 2);
}

TEST_CASE("stage: resources out of range are told") {
  const auto problem = with(0,
                            "resources",
                            {{"nodes", 0},
                             {"tasks", -1},
                             {"cpus", 2.5},
                             {"gpus", 5000000000},
                             {"memory", "4 GIB"},
                             {"time", "soon"},
                             {"silence", 0},
                             {"grace", 0.5}});
  CHECK(problem.lines() == 8);
  CHECK(problem.says("/stages/0/resources/nodes: 0 is out of range"));
  CHECK(problem.says("/stages/0/resources/tasks: -1 is out of range"));
  CHECK(problem.says("/stages/0/resources/cpus: must be an integer, not 2.5"));
  CHECK(problem.says("/stages/0/resources/gpus: 5000000000 is out of range"));
  CHECK(problem.says("/stages/0/resources/memory: '4 GIB' is not a size"));
  CHECK(problem.says("/stages/0/resources/time: \"soon\" is not a length of time"));
  CHECK(problem.says("/stages/0/resources/silence: 0 is not a length of time"));
  CHECK(problem.says("/stages/0/resources/grace: 0.5 is not a whole number of seconds"));
  for (const nlohmann::json& time : {nlohmann::json("999999d"), nlohmann::json(3155760001)}) {
    const auto long_one = with(0, "resources", {{"time", time}, {"silence", time}});
    CHECK(long_one.lines() == 2);
    CHECK(long_one.says("/stages/0/resources/time: " + time.dump() + " is not a length of time"));
  }
  CHECK(with(0, "resources", {{"nodes", 4}, {"tasks", 2}})
            .says("/stages/0/resources/tasks: 2 on 4 nodes"));
  for (const char* size : {"-1 GiB", "GiB", "1e30 TiB", "99999999999 TiB", "nan B", "4  GiB"}) {
    CHECK(with(0, "resources", {{"memory", size}}).says("is not a size"));
  }
}
