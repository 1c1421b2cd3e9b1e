#include "full_values.hpp"
#include "problem_text.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/package_lock.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using test::problem_of;

namespace {

using Texts = std::vector<std::string>;

spec::PackageLock parse(const spec::PackageLock& lock) {
  return spec::parse_package_lock(base::pretty_json(to_json(lock)), "lock.json");
}

spec::EnvironmentLock resolved(const std::map<std::string, std::string>& facts) {
  return {{{spec::LayerKind::pip, "python", facts, {}}}};
}

spec::LayerSpec pip_layer(const std::string& members) {
  auto document =
      base::JsonDocument::parse(R"({"layers": [{"kind": "pip", )" + members + "}]}", "e.json");
  auto environment = spec::read_environment_spec(document.root());
  document.finish();
  return environment.layers.front();
}

}  // namespace

TEST_CASE("package lock: comes back from JSON as it was") {
  CHECK(parse(test::full_lock()) == test::full_lock());
  CHECK(parse({}) == spec::PackageLock{});
}

TEST_CASE("package lock: an edit is found, and so is what no program may be given") {
  const auto lock = test::full_lock();
  std::string text = base::pretty_json(to_json(lock));
  text.replace(text.find("2.4.6"), 5, "2.4.7");
  const auto edited = problem_of([&] { spec::parse_package_lock(text, "lock.json"); });
  CHECK(edited.text.find("lock.json:/digest: the lock was edited or merged") == 0);

  const auto refused = [&](auto change) {
    auto changed = lock;
    change(changed.layers[0].platforms[0].packages[0]);
    return problem_of([&] { parse(changed); }).text;
  };
  const std::string at = "lock.json:/layers/0/platforms/0/packages/0: ";
  CHECK(refused([](auto& package) { package.file = "../x.whl"; }).find(at) == 0);
  CHECK(refused([](auto& package) { package.file = "numpy.exe"; }).find(at) == 0);
  CHECK(refused([](auto& package) { package.name = "-r x"; }).find(at) == 0);
  CHECK(refused([](auto& package) { package.version = "1 --index-url x"; }).find(at) == 0);
  CHECK(refused([](auto& package) { package.digest = {}; }).find(at) == 0);
}

TEST_CASE("package lock: names of packages are compared as indexes do") {
  CHECK(spec::normal_package_name("Foo_.-Bar") == "foo-bar");
  const auto name = [](const char* text) { return spec::required_package(text).value_or("none"); };
  CHECK(name("NumPy") == "numpy");
  CHECK(name("scikit_learn[all] >=1.5, !=1.6.*,<2 ; python_version < '3.12'") == "scikit-learn");
  CHECK(name("a==1.0+local") == "a");
  for (const char* text : {"-e .",
                           "--pre",
                           "./folder",
                           "a @ https://host/a.whl",
                           "git+ssh://x",
                           "a==1 --hash=sha256:0",
                           "",
                           "a b",
                           "https://x/a.whl"})
    CHECK(name(text) == "none");
}

TEST_CASE("environment: a pip layer is read, written and checked") {
  const auto layer = pip_layer(
      R"("python": "3.11", "requirements": ["numpy<3"], "from_source": ["Mpi4Py"], "commands": ["f2py"])");
  CHECK(layer.kind == spec::LayerKind::pip);
  CHECK(layer.name == "pip");
  CHECK(layer.packages.python == "3.11");
  CHECK(layer.packages.from_source == Texts{"mpi4py"});
  CHECK(layer.commands == Texts{"f2py"});
  const spec::EnvironmentSpec full{{}, {test::full_pip_layer()}};
  auto document = base::JsonDocument::parse(to_json(full).dump(), "e.json");
  CHECK(spec::read_environment_spec(document.root()) == full);

  const auto problem = [](const std::string& members) {
    return problem_of([&] { pip_layer(members); }).text;
  };
  CHECK(problem(R"("name": "x")") == "e.json:/layers/0: asks for no package");
  CHECK(problem(R"("requirements": ["a"], "python": "2.7")")
            .find("e.json:/layers/0/python: '2.7' is neither a version nor a path") == 0);
  CHECK(problem(R"("requirements": ["git+https://host/a"])")
            .find("e.json:/layers/0/requirements/0: 'git+https://host/a' is not a package") == 0);
  CHECK(
      problem(R"("requirement_files": ["/etc/x"])")
          .find(
              "e.json:/layers/0/requirement_files/0: '/etc/x' is not a file beneath the recipe") ==
      0);
  CHECK(problem(R"("requirements": ["a"], "imports": ["os; x"])")
            .find("e.json:/layers/0/imports/0: 'os; x' is not the name of a module") == 0);
}

TEST_CASE("environment: what makes two environments differ is said in words") {
  const auto one = resolved({{"package.a", "1.0 sha256:1"},
                             {"package.b", "1.0 sha256:1"},
                             {"package.c", "1.0 sha256:1"},
                             {"python", "cpython 3.11.7"},
                             {"before", "sha256:1"}});
  const auto other = resolved({{"package.a", "2.0 sha256:2"},
                               {"package.c", "1.0 sha256:2"},
                               {"package.d", "4 sha256:2"},
                               {"python", "cpython 3.12.1"},
                               {"before", "sha256:2"}});
  CHECK(spec::differences(one, other) ==
        Texts{"layer 'python': a is 1.0 in the first, 2.0 in the second",
              "layer 'python': b 1.0 is only in the first",
              "layer 'python': c 1.0 comes from two different files",
              "layer 'python': d 4 is only in the second",
              "layer 'python': python is 'cpython 3.11.7' in the first, 'cpython 3.12.1' in the "
              "second"});
  CHECK(spec::differences(one, one).empty());
  CHECK(spec::differences(one, {}) == Texts{"layer 'python' is only in the first"});
  // A layer before it, and another name, do not make all of it another.
  spec::EnvironmentLock later = one;
  later.layers.insert(later.layers.begin(), {spec::LayerKind::host, "site", {}, {}});
  CHECK(spec::differences(one, later) == Texts{"layer 'site' is only in the second"});
  spec::EnvironmentLock renamed = other;
  renamed.layers[0].name = "packages";
  CHECK(spec::differences(one, renamed)
            .front()
            .starts_with("layer 'python' ('packages' in the second): "));
  CHECK(spec::differences(one, renamed).size() == spec::differences(one, other).size());
  spec::EnvironmentLock turned = later;
  std::swap(turned.layers[0], turned.layers[1]);
  CHECK(spec::differences(later, turned) ==
        Texts{"the order of the layers is site, python in the first, python, site in the second"});
}
