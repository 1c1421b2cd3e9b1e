// Against the real Lmod and the real Environment Modules, with modulefiles of the tests' own.
#include "conformance/layer_conformance.hpp"
#include "env/layers/builtin_layers.hpp"
#include "pip_workshop.hpp"
#include "support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

namespace fs = std::filesystem;

struct CountingRunner final : base::ProcessRunner {
  base::SystemProcessRunner real{};
  int count = 0;
  base::ProcessResult run(const base::Command& command, std::stop_token stop) override {
    ++count;
    return real.run(command, std::move(stop));
  }
};

/// A folder of modulefiles, and a shell of a user who has one of the module systems.
struct ModuleWorkshop : test::EnvWorkshop {
  explicit ModuleWorkshop(const std::string& module_home) {
    REQUIRE(fs::exists(fs::path(module_home) / "init/bash"));
    options.environment = {
        {"PATH", "/usr/bin:/bin"}, {"MODULESHOME", module_home}, {"MODULEPATH", folder().string()}};
    base::make_directories(recipe());
    module_file("flow/1.0",
                "prepend-path PATH /opt/flow/1.0/bin\nsetenv FLOW_HOME /opt/flow/1.0\n");
    module_file("flow/2.0",
                "prepend-path PATH /opt/flow/2.0/bin\nsetenv FLOW_HOME /opt/flow/2.0\n");
    module_file("mesh/3", "module load flow/1.0\nappend-path MESH_PATH /opt/mesh/3\n");
    module_file("quiet/1", "break\n");
    module_file("broken/1", "error {the licence server is gone}\n");
  }
  fs::path folder() const { return home / "modulefiles"; }
  void module_file(const std::string& name, const std::string& text) const {
    base::make_directories((folder() / name).parent_path());
    base::write_file_atomically(folder() / name, "#%Module1.0\n" + text);
  }
  spec::BuiltLayer loaded(const std::vector<std::string>& modules) {
    return build({{}, {layer(modules)}}).layers.at(0);
  }
  static spec::LayerSpec layer(const std::vector<std::string>& modules) {
    spec::LayerSpec spec;
    spec.kind = spec::LayerKind::modules;
    spec.name = "modules";
    spec.modules = modules;
    return spec;
  }
};

std::string any_system() {
  return GENERATE(as<std::string>{}, "/usr/share/lmod/lmod", SABATH_ENVIRONMENT_MODULES);
}

}  // namespace

TEST_CASE("modules layer: passes the conformance suite of layers") {
  ModuleWorkshop shop(any_system());
  const auto layer = env::make_modules_layer(
      {shop.processes, std::make_shared<env::Memo>("", shop.clock), shop.options.environment});
  test::check_layer_conformance({*layer,
                                 ModuleWorkshop::layer({"flow"}),
                                 ModuleWorkshop::layer({"no-such-module"}),
                                 shop.recipe(),
                                 {{"PATH", "/usr/bin:/bin"}}});
}

TEST_CASE("modules layer: its key is the same for another user at another place") {
  ModuleWorkshop shop(any_system());
  test::check_key_travels({{}, {ModuleWorkshop::layer({"mesh"})}},
                          shop.recipe(),
                          shop.options,
                          [&](const test::TempHome& there, env::StoreOptions& options) {
                            const fs::path folder = there / "modules";
                            fs::copy(shop.folder(), folder, fs::copy_options::recursive);
                            options.environment["MODULEPATH"] = folder.string();
                          });
}

TEST_CASE("modules layer: what modules set is there for whatever runs, without a module system") {
  ModuleWorkshop shop(any_system());
  const auto built = shop.build({{}, {ModuleWorkshop::layer({"mesh"})}});
  REQUIRE(built.layers.at(0).modules);
  const auto& modules = built.layers[0].modules->modules;
  REQUIRE(modules.size() == 2);
  CHECK(modules[0].name == "flow/1.0");
  CHECK(modules[0].file == (shop.folder() / "flow/1.0").string());
  CHECK(modules[0].digest == base::digest_file(shop.folder() / "flow/1.0"));
  CHECK(modules[1].name == "mesh/3");
  const auto variables = env::run_variables(built, {{"PATH", "/elsewhere"}});
  CHECK(variables.at("PATH") == "/opt/flow/1.0/bin:/elsewhere");
  CHECK(variables.at("FLOW_HOME") == "/opt/flow/1.0");
  CHECK(variables.at("MESH_PATH") == "/opt/mesh/3");
  CHECK(variables.at("LOADEDMODULES") == "flow/1.0:mesh/3");
}

TEST_CASE("modules layer: its own variables and later layers see what modules set") {
  ModuleWorkshop shop(any_system());
  auto layer = ModuleWorkshop::layer({"flow/1.0"});
  layer.variables["OTHER_HOME"] = "$FLOW_HOME/other";
  auto host = test::host_layer({"sh"});
  host.variables["THIRD"] = "$OTHER_HOME/third";
  const auto variables = env::run_variables(shop.build({{}, {layer, host}}), {{"PATH", "/bin"}});
  CHECK(variables.at("OTHER_HOME") == "/opt/flow/1.0/other");
  CHECK(variables.at("THIRD") == "/opt/flow/1.0/other/third");
}

TEST_CASE("modules layer: a module's PYTHONPATH does not come before packages that are locked") {
  ModuleWorkshop shop(any_system());
  shop.module_file("tool/1", "prepend-path PYTHONPATH /opt/tool/py\n");
  auto built = shop.build({{}, {ModuleWorkshop::layer({"tool"})}});
  CHECK(env::run_variables(built, {{"PATH", "/bin"}}).at("PYTHONPATH") == "/opt/tool/py");
  built.layers.push_back({{spec::LayerKind::pip, "python", {}, {}}, "", {}});
  CHECK_FALSE(env::run_variables(built, {{"PATH", "/bin"}}).contains("PYTHONPATH"));
}

TEST_CASE("modules layer: before packages it does not shadow them, after them it comes first") {
  test::PipWorkshop shop;
  const fs::path site = shop.home / "site";
  base::make_directories(site);
  base::write_file_atomically(site / "apple.py", "grown = 'elsewhere'\n");
  base::make_directories(shop.home / "modulefiles/site");
  base::write_file_atomically(
      shop.home / "modulefiles/site/1",
      "#%Module1.0\nsetenv SITE_HOME /opt/site\nprepend-path PYTHONPATH " + site.string() + "\n");
  shop.options.environment["MODULESHOME"] = any_system();
  shop.options.environment["MODULEPATH"] = (shop.home / "modulefiles").string();
  shop.package("apple", "1.0", {"--code", "import os\ngrown = os.environ['SITE_HOME']"});
  auto spec = test::PipWorkshop::asks_for({"apple"});
  spec.layers.insert(spec.layers.begin(), ModuleWorkshop::layer({"site"}));
  shop.lock(spec);
  const std::string line = "import apple; print(apple.grown)";
  CHECK(shop.python(shop.build(spec), line) == "/opt/site\n");
  CHECK(test::any_contains(shop.observer.warnings, "PYTHONPATH=" + site.string()));

  shop.package("apple", "1.0", {"--code", "grown = 'here'"});
  std::swap(spec.layers[0], spec.layers[1]);
  shop.lock(spec);
  shop.observer.warnings.clear();
  const auto built = shop.build(spec);
  CHECK(shop.python(built, line) == "elsewhere\n");
  CHECK(shop.observer.warnings.empty());
  spec.layers.pop_back();
  CHECK(shop.python(shop.build(spec), line) == "here\n");
}

TEST_CASE("modules layer: the text of a modulefile is what identifies it") {
  ModuleWorkshop shop(any_system());
  const auto first = shop.loaded({"flow/1.0"});
  CHECK(first.lock.facts.at("module.flow/1.0") ==
        base::digest_file(shop.folder() / "flow/1.0").text());
  CHECK(first.lock.facts.at("modules") == "flow/1.0");
  CHECK(shop.loaded({"flow/1.0"}).lock.key == first.lock.key);
  shop.module_file("flow/1.0", "prepend-path PATH /opt/flow/1.0/bin64\n");
  CHECK(shop.loaded({"flow/1.0"}).lock.key != first.lock.key);
  CHECK(shop.loaded({"flow/2.0"}).lock.key != first.lock.key);
}

TEST_CASE("modules layer: a new version that becomes the default is found") {
  ModuleWorkshop shop(any_system());
  CHECK(shop.loaded({"flow"}).lock.facts.at("modules") == "flow/2.0");
  shop.module_file("flow/3.0", "setenv FLOW_HOME /opt/flow/3.0\n");
  CHECK(shop.loaded({"flow"}).lock.facts.at("modules") == "flow/3.0");
}

TEST_CASE("modules layer: folders with modulefiles may come with the recipe") {
  ModuleWorkshop shop(any_system());
  shop.write("modulefiles/own/1", "#%Module1.0\nsetenv OWN 1\n");
  auto layer = ModuleWorkshop::layer({"own"});
  CHECK(error_of([&] { shop.build({{}, {layer}}); }).kind() == base::ErrorKind::environment);
  layer.use = {"{recipe}/modulefiles"};
  CHECK(env::run_variables(shop.build({{}, {layer}}), {{"PATH", "/bin"}}).at("OWN") == "1");
  layer.use = {"{recipe}/elsewhere"};
  const auto error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "elsewhere: no such folder"));
}

TEST_CASE("modules layer: each module that does not load, or does not stay, is named") {
  ModuleWorkshop shop(any_system());
  const auto problem = [&](const std::vector<std::string>& modules) {
    const auto error = error_of([&] { shop.loaded(modules); });
    CHECK(error.kind() == base::ErrorKind::environment);
    CHECK(contains(error.hint(), shop.folder().string()));
    return std::string(error.what());
  };
  CHECK(contains(problem({"flow", "no-such-module"}), "module 'no-such-module' cannot be loaded"));
  CHECK(contains(problem({"quiet"}), "module 'quiet'"));
  CHECK(contains(problem({"broken"}), "licence"));
}

TEST_CASE("modules layer: a module that a later one replaces did not stay (Lmod swaps versions)") {
  ModuleWorkshop shop("/usr/share/lmod/lmod");
  const auto error = error_of([&] { shop.loaded({"flow/1.0", "flow/2.0"}); });
  CHECK(contains(error.what(), "module 'flow/1.0' did not stay: at the end there were flow/2.0"));
}

TEST_CASE("modules layer: a module that sets PATH anew is told whole") {
  ModuleWorkshop shop(any_system());
  shop.module_file("only/1", "setenv ONLY_HOME /opt/only\nsetenv PATH /opt/only/bin\n");
  const auto built = shop.build({{}, {ModuleWorkshop::layer({"only"})}});
  const auto& layer = built.layers.at(0);
  CHECK(layer.lock.facts.at("module.only/1") == base::digest_file(shop.folder() / "only/1").text());
  const auto variables = env::run_variables(built, {{"PATH", "/bin"}, {"LANG", "C"}});
  CHECK(variables.at("ONLY_HOME") == "/opt/only");
  CHECK(variables.at("PATH") == "/opt/only/bin");
  CHECK(variables.at("LANG") == "C");
}

TEST_CASE("modules layer: a shell that does not tell its variables is refused") {
  ModuleWorkshop shop(any_system());
  const fs::path programs = shop.home / "programs";
  base::make_directories(programs);
  // Only what is asked with -0 is dumb: the module system itself may use env.
  base::write_file_atomically(programs / "env",
                              "#!/bin/sh\n[ \"$1\" = -0 ] || exec /usr/bin/env \"$@\"\n",
                              base::Durability::ordered_only,
                              0755);
  shop.options.environment["PATH"] = programs.string() + ":/usr/bin:/bin";
  const auto error = error_of([&] { shop.loaded({"flow/1.0"}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "did not print its variables"));
}

TEST_CASE("modules layer: nothing of the user's but where modules are found plays a part") {
  ModuleWorkshop shop(any_system());
  const auto plain = shop.loaded({"flow/1.0"});
  shop.options.environment["LOADEDMODULES"] = "flow/2.0";
  shop.options.environment["_LMFILES_"] = (shop.folder() / "flow/2.0").string();
  shop.options.environment["LD_LIBRARY_PATH"] = "/users/own";
  const auto busy = shop.loaded({"flow/1.0"});
  CHECK(busy.lock.key == plain.lock.key);
  CHECK(busy.modules == plain.modules);
}

TEST_CASE("modules layer: the second time nobody is asked, until something changes") {
  ModuleWorkshop shop(any_system());
  CountingRunner processes;
  test::FakeClock later;  // stamps of files that changed a moment ago prove nothing
  later.move(shop.clock.now() - later.now() + std::chrono::hours(1));
  const auto layer = env::make_modules_layer(
      {processes, std::make_shared<env::Memo>("", later), shop.options.environment});
  const auto spec = ModuleWorkshop::layer({"mesh"});
  const std::vector<spec::BuiltLayer> none;
  const env::LayerContext context{spec, shop.recipe(), none, {{"PATH", "/usr/bin:/bin"}}};
  const auto facts = layer->resolve(context);
  CHECK(layer->resolve(context) == facts);
  CHECK(processes.count == 1);
  shop.module_file("mesh/4", "");
  CHECK(layer->resolve(context) != facts);
  CHECK(processes.count == 2);
}
