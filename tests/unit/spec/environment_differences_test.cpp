#include <sabath/spec/environment_spec.hpp>

#include <catch2/catch.hpp>

using sabath::spec::environment_differences;
using Items = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

namespace {

const std::string key_a(64, 'a');
const std::string key_b(64, 'b');

}  // namespace

TEST_CASE("environment: packages of two runs are added, removed or changed, and keys are no news") {
  const Items a{{"py.key", key_a},
                {"py.before", "sha256:1"},
                {"py.package.numpy", "1.26.4 sha256:1"},
                {"py.package.six", "1.16 sha256:1"},
                {"py.package.tqdm", "4.66 sha256:1"},
                {"py.python", "cpython 3.11.7"},
                {"py.$PATH", "/envs/" + key_a.substr(0, 32) + "/bin"}};
  const Items b{{"py.key", key_b},
                {"py.before", "sha256:2"},
                {"py.package.numpy", "2.0.0 sha256:2"},
                {"py.package.scipy", "1.11 sha256:2"},
                {"py.package.tqdm", "4.66 sha256:2"},
                {"py.python", "cpython 3.12.1"},
                {"py.$PATH", "/envs/" + key_b.substr(0, 32) + "/bin"}};
  CHECK(environment_differences(a, b) ==
        Texts{"layer 'py': package changed: numpy is 1.26.4 in A, 2.0.0 in B",
              "layer 'py': package added: scipy 1.11 is only in B",
              "layer 'py': package removed: six 1.16 is only in A",
              "layer 'py': package changed: tqdm 4.66 comes from two different files",
              "layer 'py': python is 'cpython 3.11.7' in A, 'cpython 3.12.1' in B"});
  CHECK(environment_differences(b, a)[1] == "layer 'py': package removed: scipy 1.11 is only in A");
  CHECK(environment_differences(a, a).empty());
}

TEST_CASE("environment: a layer that one run lacks, and flags and variables of another, are told") {
  const Items a{{"code.key", key_a}, {"code.cxx", "g++ 12"}, {"code.$OMP", "1"}};
  const Items b{{"code.key", key_b}, {"code.cxx", "g++ 13"}, {"py.key", key_b}, {"py.python", "3"}};
  CHECK(environment_differences(a, b) == Texts{"layer 'py' is only in B",
                                               "layer 'code': $OMP ('1') is only in A",
                                               "layer 'code': cxx is 'g++ 12' in A, 'g++ 13' in "
                                               "B"});
  CHECK(environment_differences({{"code.key", key_a}}, {{"code.key", key_b}}) ==
        Texts{"only the keys of its layers differ"});
  // Of an earlier record, which names no layers.
  CHECK(environment_differences({{"python", "3.11"}}, {{"python", "3.12"}}) ==
        Texts{"python is '3.11' in A, '3.12' in B"});
}

TEST_CASE("environment: a package that is not as it was locked is told of the run that has it") {
  sabath::spec::BuiltLayer layer;
  layer.lock.facts = {{"package.numpy", "1.26.4 sha256:1"}};
  layer.packages = {{"numpy", "2.0.0"}, {"plum", "0.1"}};
  const Items drift = sabath::spec::drift_facts(layer.drift());
  CHECK(drift == Items{{"drift.numpy", "1.26.4 was locked, 2.0.0 is present"},
                       {"drift.plum", "0.1 is present and was not locked"}});
  const Items a{{"py.key", key_a}};
  Items b = a;
  for (const auto& [name, value] : drift)
    b["py." + name] = value;
  CHECK(environment_differences(a, b) ==
        Texts{"layer 'py': numpy: 1.26.4 was locked, 2.0.0 is present in B",
              "layer 'py': plum: 0.1 is present and was not locked in B"});
  CHECK(environment_differences(b, a)[1] ==
        "layer 'py': plum: 0.1 is present and was not locked in A");
}
