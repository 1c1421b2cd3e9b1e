#include "full_values.hpp"
#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/package_lock.hpp>

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
  const auto problem = problem_of([] { one_layer(R"("kind": "spack", "file": "x.yml")"); });
  CHECK(problem.hint.find("\"pip\" has packages of PyPI") != std::string::npos);
  CHECK(
      problem.text ==
      "e.json:/layers/0/kind: 'spack' is not one of host, modules, source, pip, conda, container");
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
        }).says("e.json:/layers/0/languages/0: 'rust' is not one of c, c++, fortran"));
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

TEST_CASE("environment: layers of all kinds come back from JSON as they were") {
  const spec::EnvironmentSpec spec{{"cpu", "gpu"},
                                   {test::full_code_layer(),
                                    test::full_pip_layer(),
                                    test::full_conda_layer(),
                                    test::full_container_layer()}};
  CHECK(read(to_json(spec).dump()) == spec);
}

TEST_CASE("environment: code may be fetched, and built in steps") {
  const auto layer = one_layer(R"("kind": "source", "git": "https://host/code.git", "ref": "v1.2",
      "build": "steps", "steps": [["./install", "{prefix}", "-j{jobs}"]])")
                         .layers.front();
  CHECK(layer.origin.git == "https://host/code.git");
  CHECK(layer.path.empty());
  CHECK(layer.steps ==
        std::vector<std::vector<std::string>>{{"./install", "{prefix}", "-j{jobs}"}});
  const auto configured = one_layer(R"("kind": "source", "archive": "https://host/a.tar.gz",
      "build": "autotools", "options": {"enable-x": true, "enable-y": false, "with-z": "/z"})")
                              .layers.front();
  CHECK(configured.options ==
        std::map<std::string, std::string>{{"enable-x", ""}, {"enable-y", "no"}, {"with-z", "/z"}});
}

TEST_CASE("environment: what is wrong with fetched code is told") {
  const auto problem = [](const std::string& members) {
    return problem_of([&] { one_layer("\"kind\": \"source\", \"build\": \"make\", " + members); });
  };
  CHECK(problem(R"("git": "ext::sh -c x", "ref": "1")").says("'ext::sh -c x' is not a URL"));
  CHECK(problem(R"("git": "--upload-pack=x", "ref": "1")").says("is not a URL"));
  CHECK(problem(R"("git": "https://u:p@host/x", "ref": "1")").says("a document holds no password"));
  CHECK(problem(R"("git": "https://host/x")").says("'ref' is missing"));
  CHECK(
      problem(R"("git": "https://host/x", "ref": "--all")").says("is not a commit, tag or branch"));
  CHECK(problem(R"("git": "https://h/x", "ref": "1", "archive": "https://h/y")")
            .says("the code comes from \"git\" already"));
  CHECK(problem(R"("archive": "https://h/y", "path": "../x")").says("is not a folder in what is"));
  CHECK(
      problem(R"("archive": "https://h/y", "patches": ["/etc/x"])").says("is not a patch beneath"));
}

TEST_CASE("environment: what is wrong with images and packages of conda is told") {
  CHECK(problem_of([] {
          one_layer(R"("kind": "container", "image": "--rm x")");
        }).says("'--rm x' is not an image"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "container", "image": "x", "engines": ["lxc"])");
        }).says("'lxc' is not one of apptainer, singularity, podman, docker"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "container", "image": "x", "binds": ["data"])");
        }).says("'data' is not a bind"));
  for (const std::string wrong : {"x=>4", "x==4 --hash=sha256:aa", "x=4", "x>1<2", "x>", "x,>1"}) {
    CHECK(problem_of([&] {
            one_layer(R"("kind": "pip", "requirements": [")" + wrong + "\"]");
          }).says("'" + wrong + "' is not a package with versions"));
  }
  for (const std::string right : {"x",
                                  "x[a, b] >= 1.0, < 2",
                                  "x (>=1)",
                                  "x~=1!2.0.post1",
                                  "x===1",
                                  "x==1.*,!=1.2+cu12; python_version < '3.12'",
                                  "x>=1,"})
    CHECK(spec::required_package(right) == "x");
  CHECK(problem_of([] {
          one_layer(R"("kind": "conda", "requirements": ["-c x"], "channels": ["c"])");
        }).says("'-c x' is not a package with versions"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "conda", "requirements": ["x"], "channels": ["-x"])");
        }).says("'-x' is not a URL"));
  CHECK(problem_of([] {
          one_layer(R"("kind": "conda", "requirements": ["x"])");
        }).says("'channels' is missing"));
}

TEST_CASE("environment: layers take part in variants, of which one is selected") {
  const auto spec = read(R"({"variants": ["cpu", "gpu"], "layers": [
      {"kind": "host", "commands": ["cc"]},
      {"kind": "pip", "requirements": ["jax"], "variants": ["cpu"]},
      {"kind": "pip", "requirements": ["jax", "jax-cuda"], "variants": ["gpu"]}]})");
  CHECK(spec.select("").layers.back().packages.requirements == std::vector<std::string>{"jax"});
  CHECK(spec.select("gpu").layers.size() == 2);
  CHECK(spec.select("gpu").layers.back().packages.requirements.size() == 2);
  const auto problem = problem_of([&] { spec.select("tpu"); });
  CHECK(problem.text == "environment: no variant 'tpu'");
  CHECK(problem.hint == "did you mean 'cpu'? It has cpu, gpu");
  CHECK(problem_of([&] { spec.select("accelerated"); }).hint == "it has cpu, gpu");
  CHECK(problem_of([] {
          read(R"({"layers": [{"kind": "host", "commands": ["cc"], "variants": ["x"]}]})");
        }).says("e.json:/layers/0: no variant 'x'"));
}

TEST_CASE("environment: nothing stands after a container") {
  CHECK(problem_of([] {
          read(R"({"layers": [{"kind": "container", "image": "x"},
                              {"kind": "pip", "requirements": ["numpy"]}]})");
        }).says("e.json:/layers/1: stands after the container 'container'"));
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
  environment.layers.push_back(built("box", "/p/box"));
  environment.layers.back().lock.kind = spec::LayerKind::container;
  CHECK(environment.prefix() == "/p/two");
  CHECK_FALSE(environment.prefix("box"));
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
