#include "env/layers/layer_variables.hpp"

#include "env_workshop.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

spec::BuiltLayer layer(const std::string& name,
                       const std::string& prefix,
                       const std::map<std::string, std::string>& variables) {
  return {{spec::LayerKind::host, name, {}, {}}, prefix, variables};
}

}  // namespace

TEST_CASE("variables: a layer's refer to those of the layers before it") {
  const spec::BuiltEnvironment environment{
      {layer("one", "", {{"CUDA_HOME", "/opt/cuda"}}),
       layer("two", "", {{"HOROVOD_CUDA_HOME", "$CUDA_HOME"}, {"LIBS", "${CUDA_HOME}/lib:x$$y"}})}};
  const auto variables = env::run_variables(environment, {});
  CHECK(variables.at("HOROVOD_CUDA_HOME") == "/opt/cuda");
  CHECK(variables.at("LIBS") == "/opt/cuda/lib:x$y");
}

TEST_CASE("variables: a layer adds to what was there before it") {
  const spec::BuiltEnvironment environment{{layer("one", "", {{"PATH", "/opt/bin:$PATH"}})}};
  CHECK(env::run_variables(environment, {{"PATH", "/usr/bin"}}).at("PATH") == "/opt/bin:/usr/bin");
}

TEST_CASE("variables: a reference to what no earlier layer set is an error that names it") {
  const spec::BuiltEnvironment environment{{layer("one", "", {{"A", "1"}, {"B", "$A"}})}};
  const auto error = error_of([&] { env::run_variables(environment, {}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(std::string(error.what()) ==
        "environment layer 'one': B: '$A' is not set by an earlier layer");
  CHECK(contains(error.hint(), "layers before"));

  for (const char* text : {"$", "a$-b", "${A", "${}"}) {
    const spec::BuiltEnvironment wrong{{layer("one", "", {{"B", text}})}};
    CAPTURE(text);
    CHECK(contains(error_of([&] {
                     env::run_variables(wrong, {{"A", ""}});
                   }).what(),
                   "a '$' without a name"));
  }
}

TEST_CASE("variables: prefixes come before what the caller has, the last layer first") {
  const test::TempHome home;
  for (const char* folder : {"a/bin", "a/lib", "a/include", "b/bin", "b/lib64/pkgconfig"})
    base::make_directories(home / folder);
  const std::string a = (home / "a").string();
  const std::string b = (home / "b").string();
  const spec::BuiltEnvironment environment{{layer("a", a, {}), layer("b", b, {})}};
  const auto variables =
      env::run_variables(environment, {{"PATH", "/usr/bin"}, {"CPATH", ""}, {"OTHER", "kept"}});
  CHECK(variables.at("PATH") == b + "/bin:" + a + "/bin:/usr/bin");
  CHECK(variables.at("LD_LIBRARY_PATH") == b + "/lib64:" + a + "/lib");
  CHECK(variables.at("CPATH") == a + "/include");
  CHECK(variables.at("PKG_CONFIG_PATH") == b + "/lib64/pkgconfig");
  CHECK(variables.at("CMAKE_PREFIX_PATH") == b + ":" + a);
  CHECK(variables.at("OTHER") == "kept");
}

TEST_CASE("variables: from locked packages on nothing leads Python to others, unless they say so") {
  const auto kind = GENERATE(spec::LayerKind::pip, spec::LayerKind::conda);
  const auto site = layer("site", "", {{"PYTHONPATH", "/site/py"}, {"PYTHONHOME", "/site"}});
  spec::BuiltLayer packages{{kind, "packages", {}, {}}, "", {}};
  const auto plain = env::run_variables({{site, packages}}, {{"PATH", "/bin"}});
  CHECK_FALSE(plain.contains("PYTHONPATH"));
  CHECK_FALSE(plain.contains("PYTHONHOME"));

  packages.variables = {{"PYTHONPATH", "/own:$PYTHONPATH"}};
  const auto own = env::run_variables({{site, packages}}, {{"PATH", "/bin"}});
  CHECK(own.at("PYTHONPATH") == "/own:/site/py");
  CHECK_FALSE(own.contains("PYTHONHOME"));

  packages.variables.clear();
  const auto later = layer("later", "", {{"PYTHONPATH", "/later"}});
  CHECK(env::run_variables({{packages, later}}, {{"PYTHONPATH", "/user"}}).at("PYTHONPATH") ==
        "/later");
  CHECK(env::run_variables({{site}}, {}).at("PYTHONPATH") == "/site/py");
}

TEST_CASE("variables: nothing of the user's but PATH and the compilers reaches a build") {
  const auto clean = env::clean_environment({{"PATH", "/usr/bin"},
                                             {"CC", "gcc-12"},
                                             {"CXX", ""},
                                             {"CFLAGS", "-O0"},
                                             {"PYTHONPATH", "/home/me"},
                                             {"LD_LIBRARY_PATH", "/home/me/lib"},
                                             {"HOME", "/home/me"}});
  CHECK(clean.at("PATH") == "/usr/bin");
  CHECK(clean.at("CC") == "gcc-12");
  CHECK(clean.at("LANG") == "C.UTF-8");
  CHECK(clean.contains("SOURCE_DATE_EPOCH"));
  for (const char* name : {"CXX", "CFLAGS", "PYTHONPATH", "LD_LIBRARY_PATH"})
    CHECK_FALSE(clean.contains(name));
  CHECK(clean.at("HOME") != "/home/me");
}
