#include "conformance/layer_conformance.hpp"
#include "pip_workshop.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <thread>

#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;
using test::any_contains;
using test::contains;
using test::error_of;
using test::PipWorkshop;

namespace {

/// The folder that apple 1.0, which `spec` asks for, was installed into.
fs::path apple_installed(PipWorkshop& shop, const spec::EnvironmentSpec& spec) {
  shop.package("apple", "1.0");
  shop.lock(spec);
  const fs::path lib = fs::path(*shop.build(spec).prefix()) / "lib";
  return fs::directory_iterator(lib)->path() / "site-packages";
}

}  // namespace

TEST_CASE("pip: what is locked is what is installed, and it works") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--requires", "pear>=2"});
  shop.package("pear", "1.0");
  const std::string pear = shop.package("Pear", "2.1", {"--code", "juice = 'sweet'"});
  const auto spec = PipWorkshop::asks_for({"Apple"});

  const auto lock = shop.lock(spec);
  REQUIRE(lock.layers.size() == 1);
  REQUIRE(lock.layers[0].platforms.size() == 1);
  const auto& packages = lock.layers[0].platforms[0].packages;
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].name == "apple");
  CHECK(packages[0].requested);
  CHECK(packages[1].name == "pear");
  CHECK_FALSE(packages[1].requested);
  CHECK(packages[1].file == pear);
  CHECK(packages[1].digest == base::digest_file(shop.index() / pear));
  CHECK(shop.read_lock() == lock);

  // What the index has later changes nothing.
  shop.package("pear", "3.0");
  const auto built = shop.build(spec);
  CHECK(shop.python(built, "import Pear; print(Pear.juice)") == "sweet\n");
  const auto& layer = built.layers.at(0);
  CHECK(layer.packages == std::map<std::string, std::string>{{"apple", "1.0"}, {"pear", "2.1"}});
  CHECK(layer.lock_file == lock.digest());
  CHECK(layer.drift().empty());
  CHECK(layer.lock.facts.at("package.pear") == "2.1 " + packages[1].digest.text());
  CHECK(layer.lock.facts.at("python").starts_with("cpython 3."));

  const auto before = fs::last_write_time(layer.prefix);
  CHECK(shop.build(spec).prefix() == built.prefix());
  CHECK(fs::last_write_time(layer.prefix) == before);
  const auto mode = fs::status(layer.prefix).permissions();
  CHECK((mode & fs::perms::owner_write) == fs::perms::none);
}

TEST_CASE("pip: an environment that is not locked, or locked for another request, is refused") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  auto spec = PipWorkshop::asks_for({"apple"});
  auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "environment layer 'python': is not locked"));
  CHECK(contains(error.hint(), "sabath env lock " + shop.recipe().string()));

  shop.lock(spec);
  spec.layers[0].packages.requirements = {"apple<2"};
  error = error_of([&] { shop.build(spec); });
  CHECK(contains(error.what(), "is out of date: the requirements have changed"));
  spec.layers[0].packages.requirements = {"apple"};
  shop.build(spec);

  spec.layers[0].name = "other";
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "has no layer of that name"));
}

TEST_CASE("pip: a lock that was edited is refused, whatever was edited") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  std::string text = base::read_file(shop.lock_file());
  const auto version = text.find("\"1.0\"");
  text.replace(version, 5, "\"1.1\"");
  base::write_file_atomically(shop.lock_file(), text);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "was edited or merged after it was written"));
  CHECK(contains(error.hint(), "sabath env lock"));
  CHECK(shop.store().list().empty());
}

TEST_CASE("pip: a file that is not the one that was locked is never installed") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  shop.package("apple", "1.0", {"--code", "print('other')"});
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(contains(error.what(), "cannot fetch apple-1.0-py3-none-any.whl"));
  CHECK(contains(error.what(), "other bytes than were locked"));
  CHECK_FALSE(shop.find(spec).has_value());
}

TEST_CASE("pip: what cannot be resolved is said in pip's words") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--requires", "pear<2"});
  shop.package("plum", "1.0", {"--requires", "pear>=2"});
  shop.package("pear", "1.0");
  shop.package("pear", "2.0");
  shop.package("fig", "1.0", {"--tag", "cp311-cp311-linux_m68k"});
  std::string part;
  std::vector<std::string> requirements;
  SECTION("no such package") {
    requirements = {"quince"};
    part = "No matching distribution found for quince";
  }
  SECTION("no such version") {
    requirements = {"apple>=7"};
    part = "from versions: 1.0";
  }
  SECTION("conflicting pins") {
    requirements = {"apple", "plum"};
    part = "The conflict is caused by:\n        apple 1.0 depends on pear<2\n";
  }
  SECTION("only for another platform") {
    requirements = {"fig"};
    part = "No matching distribution found for fig";
  }
  const auto error = error_of([&] { shop.lock(PipWorkshop::asks_for(requirements)); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "environment layer 'python': cannot be resolved"));
  CHECK(contains(error.what(), part));
  CHECK_FALSE(fs::exists(shop.lock_file()));
}

TEST_CASE("pip: an extra that a package does not have is a warning") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  shop.lock(PipWorkshop::asks_for({"apple[nosuch]"}));
  CHECK(any_contains(shop.observer.warnings, "apple 1.0 does not provide the extra 'nosuch'"));
}

TEST_CASE("pip: a lock without a network names the broken connection and what to do") {
  PipWorkshop shop;
  shop.options.environment.erase("PIP_NO_INDEX");
  shop.options.environment.erase("PIP_FIND_LINKS");
  // Nobody listens at port 1.
  shop.options.environment["PIP_INDEX_URL"] = "http://127.0.0.1:1/simple";
  shop.options.environment["PIP_RETRIES"] = "1";
  const auto error = error_of([&] { shop.lock(PipWorkshop::asks_for({"apple"})); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK(contains(error.what(), "the index cannot be reached:\n    connection broken by "));
  CHECK(contains(error.hint(), "PIP_INDEX_URL sets a mirror"));
  CHECK(contains(error.hint(), "'sabath env lock RECIPE' on a machine with a network"));
}

TEST_CASE("pip: constraints and files of requirements count, and comments do not") {
  PipWorkshop shop;
  for (const char* version : {"1.0", "2.0", "3.0"}) {
    shop.package("apple", version);
    shop.package("pear", version);
  }
  shop.write("more.txt", "# fruit\n\npear >= 1   # the sweet one\n");
  shop.write("limits.txt", "pear<3\n");
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.requirement_files = {"{recipe}/more.txt"};
  spec.layers[0].packages.constraint_files = {"{recipe}/limits.txt"};
  spec.layers[0].packages.constraints = {"apple<2"};
  const auto packages = shop.lock(spec).layers[0].platforms[0].packages;
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].version == "1.0");
  CHECK(packages[1].version == "2.0");
  CHECK(packages[1].requested);

  shop.write("limits.txt", "pear<2\n");
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "is out of date"));
  shop.write("more.txt", "--index-url http://x/\n");
  const auto error = error_of([&] { shop.lock(spec); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "more.txt:1: '--index-url http://x/' is not a package"));
}

TEST_CASE("pip: a lock has several platforms, and one without this machine's is refused") {
  PipWorkshop shop;
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.package("apple", "1.0", {"--tag", "py3-none-manylinux2014_aarch64"});
  shop.lock(spec, {"linux-aarch64", "3.12"});
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the lock has nothing for linux-"));
  CHECK(contains(error.what(), "it has: linux-aarch64 cp312"));

  shop.package("apple", "1.0");
  const auto lock = shop.lock(spec);
  REQUIRE(lock.layers[0].platforms.size() == 2);
  CHECK(lock.layers[0].platforms[0].packages[0].file ==
        "apple-1.0-py3-none-manylinux2014_aarch64.whl");
  CHECK_NOTHROW(shop.build(spec));
}

TEST_CASE("pip: whether a recipe has a layer is told by its packages, markers left aside") {
  test::PipWorkshop shop;
  shop.package("one", "1.0");
  shop.package("two", "1.0");
  const auto spec = shop.asks_for({"One>=1", "two; python_version < '3'"});
  shop.lock(spec);
  const auto layer = shop.build(spec).lock().layers.at(0);
  CHECK_FALSE(layer.facts.contains("package.two"));
  CHECK(shop.store().resolves_to(layer, spec, shop.recipe()));
  CHECK_FALSE(shop.store().resolves_to(layer, shop.asks_for({"one", "two"}), shop.recipe()));
  CHECK_FALSE(shop.store().resolves_to(layer, shop.asks_for({"one"}), shop.recipe()));
}

TEST_CASE("pip: packages that cannot be used fail the build, which is not tried again by itself") {
  PipWorkshop shop;
  auto spec = PipWorkshop::asks_for({"apple"});
  std::string part;
  SECTION("an import that fails") {
    shop.package("apple", "1.0", {"--code", "raise RuntimeError('rotten')"});
    part = "rotten";
  }
  SECTION("a module that the recipe needs") {
    shop.package("apple", "1.0");
    spec.layers[0].packages.imports = {"apple.core"};
    part = "No module named 'apple.core'";
  }
  SECTION("a command that the recipe needs") {
    shop.package("apple", "1.0", {"--command", "peel"});
    spec.layers[0].commands = {"peel", "slice"};
    part = "the packages bring no such command: slice";
  }
  shop.lock(spec);
  auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), part));
  CHECK(shop.store().list().at(0).state == "failed");

  const auto count = shop.observer.notes.size();
  error = error_of([&] { shop.build(spec); });
  CHECK(contains(error.what(), "is repeated only on request"));
  CHECK(contains(error.hint(), "--retry"));
  CHECK(shop.observer.notes.size() == count);
  error = error_of([&] {
    shop.store().build(spec, shop.recipe(), shop.observer, {}, env::AfterFailure::retry);
  });
  CHECK(contains(error.what(), part));
}

TEST_CASE(
    "pip: layers of the same packages share a prefix, and each is checked for what it expects") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--command", "peel"});
  const auto modest = PipWorkshop::asks_for({"apple"});
  auto greedy = modest;
  greedy.layers[0].commands = {"nosuch"};
  greedy.layers[0].packages.imports = {"apple"};
  shop.lock(modest);
  const bool is_modest_first = GENERATE(true, false);
  if (is_modest_first) {
    shop.build(modest);
    shop.observer.notes.clear();
  }
  CHECK(contains(error_of([&] { shop.build(greedy); }).what(), "no such command: nosuch"));
  CHECK(any_contains(shop.observer.notes, "is ready, and is checked") == is_modest_first);
  CHECK_FALSE(shop.find(greedy).has_value());
  CHECK(shop.store().list().at(0).state == (is_modest_first ? "ready" : "failed"));
  shop.observer.notes.clear();
  const auto again = error_of([&] { shop.build(greedy); });
  CHECK(contains(again.what(), "its check failed at"));
  CHECK(contains(again.what(), "no such command: nosuch"));
  CHECK(contains(again.hint(), "--retry"));
  CHECK(shop.observer.notes.empty());

  // What one finds wanting is good enough for the other, and is not installed again.
  const auto built = shop.build(modest);
  CHECK_FALSE(any_contains(shop.observer.notes, "installing"));
  CHECK(shop.store().list().at(0).state == "ready");
  greedy.layers[0].commands = {"peel"};
  CHECK(shop.build(greedy).prefix() == built.prefix());
  shop.observer.notes.clear();
  CHECK(shop.build(greedy).prefix() == built.prefix());
  CHECK(shop.build(modest).prefix() == built.prefix());
  CHECK(shop.observer.notes.empty());
  CHECK(shop.store().list().size() == 1);
}

TEST_CASE("pip: a shared library that is not there fails the build, unless it may be missing") {
  PipWorkshop shop;
  const std::string folder = shop.home.path().string();
  base::write_file_atomically(shop.home / "a.c", "int a(void) { return 1; }\n");
  base::Command command;
  command.argv = {"sh",
                  "-c",
                  "cd " + folder +
                      " && cc -shared -fPIC -o libgone.so a.c && "
                      "cc -shared -fPIC -Wl,--no-as-needed -o part.so a.c -L. -lgone && "
                      "rm libgone.so"};
  REQUIRE(shop.processes.run(command).ok());
  shop.package("apple", "1.0", {"--library", folder + "/part.so"});
  auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(contains(error.what(), "part.so needs libgone.so"));
  CHECK(contains(error.hint(), "optional_libraries"));
  spec.layers[0].packages.optional_libraries = {"libgone.so"};
  CHECK_NOTHROW(shop.build(spec));
}

TEST_CASE("pip: source distributions are built only where the recipe names them, which is told") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--source", "--code", "made = 'here'"});
  auto spec = PipWorkshop::asks_for({"apple"});
  const auto error = error_of([&] { shop.lock(spec); });
  CHECK(contains(error.what(), "No matching distribution"));
  CHECK(contains(error.hint(), "from_source"));

  spec.layers[0].packages.from_source = {"apple"};
  CHECK(shop.lock(spec).layers[0].platforms[0].packages[0].file == "apple-1.0.tar.gz");
  CHECK(any_contains(shop.observer.warnings, "apple is to be built from source"));
  shop.observer.warnings.clear();
  const auto built = shop.build(spec);
  CHECK(any_contains(shop.observer.warnings, "apple 1.0: built from source"));
  CHECK(shop.python(built, "import apple; print(apple.made)") == "here\n");
  CHECK(built.layers[0].lock.facts.contains("compiler.c"));
}

TEST_CASE("pip: nothing of the user's own reaches what is installed or run") {
  PipWorkshop shop;
  const fs::path own = shop.home / "own";
  base::make_directories(own);
  base::write_file_atomically(own / "apple.py", "print('the user s own')\nraise SystemExit(3)\n");
  base::make_directories(shop.home / "user/.config/pip");
  base::write_file_atomically(shop.home / "user/.config/pip/pip.conf",
                              "[global]\nconstraint = /nowhere/limits.txt\n[install]\nuser = true\n"
                              "timeout = 7\n");
  shop.options.environment["HOME"] = (shop.home / "user").string();
  shop.options.environment["PYTHONPATH"] = own.string();
  shop.options.environment["PIP_TARGET"] = (shop.home / "elsewhere").string();
  shop.package("apple", "1.0", {"--code", "grown = 'here'"});
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  for (const char* name : {"constraint", "user", "target"})
    CHECK(any_contains(shop.observer.warnings, "pip setting '" + std::string(name) + "'"));
  CHECK_FALSE(any_contains(shop.observer.warnings, "timeout"));
  const auto built = shop.build(spec);
  CHECK(shop.python(built, "import apple; print(apple.grown)") == "here\n");
  CHECK_FALSE(fs::exists(shop.home / "elsewhere"));
}

TEST_CASE("pip: what earlier layers say of Python's paths does not shadow what is locked") {
  PipWorkshop shop;
  const fs::path site = shop.home / "site";
  base::make_directories(site);
  base::write_file_atomically(site / "apple.py", "grown = 'elsewhere'\n");
  shop.package("apple", "1.0", {"--code", "grown = 'here'"});
  auto spec = PipWorkshop::asks_for({"apple"});
  auto host = test::host_layer({"sh"});
  host.variables = {{"PYTHONPATH", site.string()}, {"PYTHONHOME", "/nowhere"}};
  spec.layers.insert(spec.layers.begin(), host);
  shop.lock(spec);
  const auto built = shop.build(spec);
  CHECK(shop.python(built, "import apple; print(apple.grown)") == "here\n");
  CHECK(any_contains(shop.observer.warnings, "PYTHONPATH=" + site.string() + ", which an earlier"));
  CHECK(shop.store().list().at(0).present.at("left_out.PYTHONHOME") == "/nowhere");

  // Who wants that says so in the layer, and gets what was checked.
  spec.layers[1].variables = {{"PYTHONPATH", "$PYTHONPATH"}};
  CHECK(shop.python(shop.build(spec), "import apple; print(apple.grown)") == "elsewhere\n");
  base::write_file_atomically(site / "apple.py", "raise RuntimeError('shadowed')\n");
  shop.store().remove(shop.find(spec)->key().hex);
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "shadowed"));
}

TEST_CASE(
    "pip: a build before it sees the earlier layers' Python path, one after it the packages") {
  PipWorkshop shop;
  const fs::path site = shop.home / "site";
  base::make_directories(site);
  base::write_file_atomically(site / "apple.py", "grown = 'elsewhere'\n");
  shop.package("apple", "1.0", {"--code", "grown = 'here'", "--command", "bite"});
  shop.write("code/Makefile",
             "all:\n"
             "install:\n"
             "\tmkdir -p $(PREFIX)/bin\n"
             "\t$(PYTHON) -c 'import apple; print(apple.grown)' > $(PREFIX)/grown\n"
             "\tprintf '#!/bin/sh\\necho code\\n' > $(PREFIX)/bin/bite\n"
             "\tchmod 755 $(PREFIX)/bin/bite\n");
  auto spec = PipWorkshop::asks_for({"apple"});
  auto host = test::host_layer({"sh"});
  host.variables = {{"PYTHONPATH", site.string()}};
  auto code = test::source_layer("make");
  base::Command which;
  which.argv = {"python3", "-c", "import sys; print(sys.executable, end='')"};
  code.options["PYTHON"] = shop.processes.run(which).output;
  spec.layers.insert(spec.layers.begin(), {host, code});
  code.name = "after";
  code.options["PYTHON"] = "python3";
  spec.layers.push_back(code);
  shop.lock(spec);
  const auto built = shop.build(spec);
  CHECK(base::read_file(*built.prefix("code") + "/grown") == "elsewhere\n");
  CHECK(base::read_file(*built.prefix("after") + "/grown") == "here\n");

  // Of programs with one name the last layer's is the one.
  const auto first_of = [](const spec::BuiltEnvironment& environment) {
    return env::run_variables(environment, {{"PATH", "/bin"}}).at("PATH");
  };
  const std::string packages = *built.prefix("python");
  CHECK(fs::exists(packages + "/bin/bite"));
  CHECK(first_of(built).starts_with(*built.prefix("after") + "/bin:" + packages + "/bin:"));
  spec.layers.pop_back();
  const auto shorter = shop.find(spec);
  REQUIRE(shorter);
  CHECK(first_of(*shorter).starts_with(packages + "/bin:" + *built.prefix("code") + "/bin:"));
}

TEST_CASE("pip: two builders at once make one environment") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  std::vector<std::string> prefixes(2);
  std::vector<std::jthread> builders;
  for (std::string& prefix : prefixes) {
    builders.emplace_back([&shop, &spec, &prefix] {
      test::RecordingObserver observer;
      env::EnvironmentStore store(
          shop.cache() / "envs",
          shop.processes,
          shop.clock,
          {.environment = shop.options.environment, .bring = shop.options.bring});
      prefix = store.build(spec, shop.recipe(), observer).prefix().value_or("");
    });
  }
  builders.clear();
  CHECK(prefixes[0] == prefixes[1]);
  std::size_t attempts = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(prefixes[0]).parent_path().parent_path()))
    attempts += entry.is_directory() && !entry.is_symlink() ? 1 : 0;
  CHECK(attempts == 1);
}

TEST_CASE("pip: packages that changed after the build are drift") {
  PipWorkshop shop;
  const auto spec = PipWorkshop::asks_for({"apple"});
  const fs::path packages = apple_installed(shop, spec);
  fs::permissions(packages, fs::perms::owner_all);
  fs::rename(packages / "apple-1.0.dist-info", packages / "apple-1.5.dist-info");
  fs::create_directory(packages / "plum-0.1.dist-info");
  CHECK(shop.find(spec)->layers.at(0).drift() ==
        std::vector<std::string>{"apple: 1.0 was locked, 1.5 is present",
                                 "plum: 0.1 is present and was not locked"});
}

TEST_CASE("pip: a package that was put over another is drift, and a file that was edited is told") {
  PipWorkshop shop;
  const auto spec = PipWorkshop::asks_for({"apple"});
  const fs::path packages = apple_installed(shop, spec);
  CHECK(shop.store().list().at(0).drift.empty());
  SECTION("another version") {
    fs::permissions(packages, fs::perms::owner_all);
    fs::create_directory(packages / "apple-1.5.dist-info");
    CHECK(shop.find(spec)->layers.at(0).drift() ==
          std::vector<std::string>{"apple: 1.0 was locked, 1.0 and 1.5 is present"});
  }
  SECTION("a file") {
    const fs::path file = packages / "apple/__init__.py";
    fs::permissions(file, fs::perms::owner_all);
    // As a backup does that was put back.
    CHECK(shop.store().list().at(0).drift.empty());
    std::ofstream(file, std::ios::app) << "\n";
    CHECK(shop.store().list().at(0).drift ==
          std::vector<std::string>{"apple: apple/__init__.py was changed after it was installed"});
    fs::permissions(file.parent_path(), fs::perms::owner_all);
    fs::remove(file);
    CHECK(shop.store().list().at(0).drift ==
          std::vector<std::string>{"apple: apple/__init__.py was removed after it was installed"});
  }
}

TEST_CASE("pip: files come through whoever brings them, and then no index is asked") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  fs::rename(shop.index(), shop.home / "brought");
  shop.options.bring = [&](const std::vector<env::PinnedFile>& files,
                           const env::Download&,
                           base::Observer&,
                           std::stop_token) {
    std::vector<fs::path> paths;
    for (const env::PinnedFile& file : files) {
      CHECK(file.what == "apple 1.0");
      paths.push_back(shop.home / "brought" / file.name);
    }
    return paths;
  };
  CHECK(shop.store().fetch(spec, shop.recipe(), shop.observer).size() == 1);
  CHECK_NOTHROW(shop.build(spec));
}

TEST_CASE("pip: uv makes the same environment, out of the same Python") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--requires", "pear", "--command", "peel"});
  shop.package("pear", "1.0", {"--source"});
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.from_source = {"pear"};
  spec.layers[0].commands = {"peel"};
  shop.lock(spec);
  const auto with_pip = shop.build(spec);
  CHECK(shop.store().list().at(0).present.at("tool.installer").starts_with("pip 2"));
  shop.store().remove(with_pip.key().hex);
  // The folder has a virtual environment's python3, too.
  shop.options.environment["PATH"] = SABATH_UV ":" + shop.options.environment["PATH"];
  const auto with_uv = shop.build(spec);
  CHECK(shop.store().list().at(0).present.at("tool.installer") == "uv");
  CHECK(with_uv.key() == with_pip.key());
  CHECK(with_uv.layers[0].packages == with_pip.layers[0].packages);
  const std::string base = shop.python(with_uv, "import apple, pear, sys; print(sys.base_prefix)");
  CHECK(base.starts_with("/"));
  CHECK_FALSE(contains(base, SABATH_UV));
}

TEST_CASE("pip: what is installed has bytecode that its source is not newer than") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--code", "grown = 1"});
  shop.package("pear", "1.0", {"--code", "def broken(:"});
  auto spec = PipWorkshop::asks_for({"apple", "pear"});
  spec.layers[0].packages.imports = {"apple"};
  shop.lock(spec);
  if (GENERATE(false, true))
    shop.options.environment["PATH"] = SABATH_UV ":" + shop.options.environment["PATH"];
  const auto built = shop.build(spec);
  CHECK(any_contains(shop.observer.notes, "compiling bytecode"));
  std::string cached = shop.python(built, "import apple; print(apple.__cached__)");
  cached.pop_back();
  CHECK(fs::exists(cached));
  // By the time of its source: no digest that Python would have to make at each import.
  CHECK(base::read_file(cached).substr(4, 4) == std::string(4, '\0'));
  // What is no Python stays as it is.
  CHECK(contains(shop.python(built, "import pear"), "SyntaxError"));
}

TEST_CASE("pip: a Python that is not there is named, with what is there") {
  PipWorkshop shop;
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.python = "3.99";
  const auto error = error_of([&] { shop.lock(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "python 3.99 not found: python3.99 is not there, python3 is 3."));
  CHECK(contains(error.hint(), "apt install python3.99"));
}

TEST_CASE("pip: the layer conforms") {
  PipWorkshop shop;
  shop.package("apple", "1.0");
  auto good = PipWorkshop::asks_for({"apple"}).layers[0];
  shop.lock({{}, {good}});
  auto impossible = good;
  impossible.packages.requirements = {"pear"};
  const auto layers = env::builtin_layers(shop.processes, shop.clock, {}, shop.options.environment);
  const auto pip = std::find_if(layers.begin(), layers.end(), [](const auto& layer) {
    return layer->kind() == spec::LayerKind::pip;
  });
  test::check_layer_conformance(
      {**pip,
       good,
       impossible,
       shop.recipe(),
       {{"PATH", shop.options.environment.at("PATH")}, {"HOME", "/nonexistent"}}});
}

TEST_CASE("pip: its key is the same for another user at another place") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--requires", "pear"});
  shop.package("pear", "1.0", {"--source"});
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.from_source = {"pear"};
  shop.lock(spec);
  test::check_key_travels(spec, shop.recipe(), shop.options);
}
