#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <sabath/base/json_reader.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::problem_of;

namespace {

spec::EnvironmentSpec read(const std::string& text) {
  base::JsonDocument document = base::JsonDocument::parse(text, "e.json");
  auto environment = spec::read_environment_spec(document.root());
  document.finish();
  return environment;
}

spec::EnvironmentSpec one_layer(const std::string& members) {
  return read(R"({"layers": [{)" + members + "}]}");
}

spec::BuiltLayer built(const std::string& name, const std::string& prefix) {
  spec::BuiltLayer layer;
  layer.lock.name = name;
  layer.lock.key = base::sha256_of(name);
  layer.prefix = prefix;
  return layer;
}

const std::string cmake_layer = R"("kind": "source", "path": "{recipe}/code", "build": "cmake")";

}  // namespace

TEST_CASE("environment: a source layer is read with its defaults") {
  const auto layer = one_layer(cmake_layer).layers.front();
  CHECK(layer.kind == spec::LayerKind::source);
  CHECK(layer.name == "source");
  CHECK(layer.path == "{recipe}/code");
  CHECK(layer.build == "cmake");
  CHECK(layer.languages == std::vector<std::string>{"c", "c++"});
}

TEST_CASE("environment: options are texts as the build system spells them") {
  const std::string options =
      R"(, "options": {"A": true, "B": false, "C": 5, "D": 0.5, "E": "x y"})";
  const auto cmake = one_layer(cmake_layer + options).layers.front().options;
  CHECK(cmake == std::map<std::string, std::string>{
                     {"A", "ON"}, {"B", "OFF"}, {"C", "5"}, {"D", "0.5"}, {"E", "x y"}});
  const auto make = one_layer(R"("kind": "source", "path": "{recipe}", "build": "make")" + options)
                        .layers.front();
  CHECK(make.options.at("A") == "1");
  CHECK(make.options.at("B") == "0");
}

TEST_CASE("environment: a host layer names programs") {
  const auto layer =
      one_layer(R"("kind": "host", "commands": ["cc", "mpirun"], "variables": {"A": "$PATH"})")
          .layers.front();
  CHECK(layer.kind == spec::LayerKind::host);
  CHECK(layer.commands == std::vector<std::string>{"cc", "mpirun"});
  CHECK(layer.variables.at("A") == "$PATH");
}

TEST_CASE("environment: specs come back from JSON as they were") {
  const auto spec = read(
      R"({"layers": [{"kind": "host", "name": "tools", "commands": ["cc"], "variables": {"X": "1"}},
                     {"kind": "source", "path": "{recipe}", "build": "make", "options": {"A": true},
                      "languages": ["fortran"], "variables": {}}]})");
  CHECK(read(to_json(spec).dump()) == spec);
}

TEST_CASE("environment: an unknown kind names the known ones and nothing else") {
  const auto problem = problem_of([] { one_layer(R"("kind": "conda", "file": "x.yml")"); });
  CHECK(problem.text == "e.json:/layers/0/kind: 'conda' is none of host, modules, source, pip");
}

TEST_CASE("environment: the code lies beneath the recipe") {
  for (const char* path : {"/usr/src", "code", "{recipe}/../x", "{recipe}x", "{recipe}/", ""}) {
    const auto problem = problem_of([&] {
      one_layer(R"("kind": "source", "build": "make", "path": ")" + std::string(path) + "\"");
    });
    CHECK(problem.says("e.json:/layers/0/path: '" + std::string(path) +
                       "' is not a folder beneath the recipe"));
  }
  CHECK(problem_of([] {
          one_layer(R"("kind": "source", "build": "make", "path": "{recip}/x")");
        }).hint == "did you mean '{recipe}'?");
}

TEST_CASE("environment: what is wrong in a layer is told") {
  CHECK(problem_of([] {
          one_layer(cmake_layer + R"(, "commands": ["x"])");
        }).says("e.json:/layers/0/commands: unknown key 'commands'"));
  CHECK(problem_of([] {
          one_layer(cmake_layer + R"(, "languages": ["rust"])");
        }).says("e.json:/layers/0/languages/0: 'rust' is none of c, c++, fortran"));
  CHECK(problem_of([] {
          one_layer(cmake_layer + R"(, "options": {"-A": 1})");
        }).says("e.json:/layers/0/options/-A: '-A' is not the name of a variable"));
  CHECK(problem_of([] {
          one_layer(cmake_layer + R"(, "options": {"A": [1]})");
        }).says("e.json:/layers/0/options/A: must be a string"));
  CHECK(problem_of([] {
          one_layer(cmake_layer + R"(, "variables": {"A=B": "1"})");
        }).says("'A=B' is not the name of a variable"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "host", "commands": ["cc", "/bin/ls"])");
        }).says("e.json:/layers/0/commands/1: '/bin/ls' is a path"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "source", "path": "{recipe}")");
        }).says("e.json:/layers/0: 'build' is missing"));
  CHECK(problem_of([] {
          read(R"({"layers": [{)" + cmake_layer + "}, {" + cmake_layer + "}]}");
        }).says("e.json:/layers/1: two layers are called 'source'"));
}

TEST_CASE("environment: a prefix is the last one, or that of a name") {
  spec::BuiltEnvironment environment;
  CHECK_FALSE(environment.prefix());
  CHECK(environment.key().hex.empty());
  environment.layers = {built("one", "/p/one"), built("two", "/p/two"), built("host", "")};
  CHECK(environment.prefix() == "/p/two");
  CHECK(environment.prefix("one") == "/p/one");
  CHECK_FALSE(environment.prefix("host"));
  CHECK_FALSE(environment.prefix("three"));
  CHECK(environment.key() == base::sha256_of("host"));
  CHECK(environment.lock().layers.size() == 3);
}

TEST_CASE("environment: the digest of a lock covers every fact and the order") {
  spec::EnvironmentLock lock;
  lock.layers = {built("one", "").lock, built("two", "").lock};
  const auto before = lock.digest();
  CHECK(lock.digest() == before);
  auto other = lock;
  other.layers[0].facts["cxx"] = "g++ 12";
  CHECK(other.digest() != before);
  other = lock;
  std::swap(other.layers[0], other.layers[1]);
  CHECK(other.digest() != before);
}

TEST_CASE("environment: a lock with a malformed key is refused") {
  const auto problem = problem_of([] {
    spec::parse_environment_lock(
        R"({"schema": 1, "layers": [{"kind": "host", "name": "h", "facts": {}, "key": "sha256:12"}]})",
        "lock.json");
  });
  CHECK(problem.text == "lock.json:/layers/0/key: 'sha256:12' is not a digest");
}
