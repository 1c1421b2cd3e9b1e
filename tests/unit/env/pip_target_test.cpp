// Locks for other machines than this, and with Pythons that lack pip. Real pip and uv.
#include "pip_workshop.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace fs = std::filesystem;
using namespace sabath;
using test::contains;
using test::error_of;
using test::PipWorkshop;

namespace {

std::vector<std::string> names_of(const spec::PackageLock& lock, std::string_view platform) {
  std::vector<std::string> names;
  for (const auto& one : lock.layers.at(0).platforms) {
    if (one.platform + " " + one.python != platform) continue;
    for (const auto& package : one.packages)
      names.push_back(package.name);
  }
  return names;
}

/// A program in the place of pip that takes this machine's markers, or adds what nobody asked for.
std::string deaf_pip(const std::string& packages) {
  return "import json, sys\n"
         "if '--report' in sys.argv:\n"
         "    json.dump({'install': " +
         packages + "}, open(sys.argv[sys.argv.index('--report') + 1], 'w'))\n";
}

}  // namespace

TEST_CASE("pip: markers are those of the machine that is locked for") {
  PipWorkshop shop;
  shop.package("apple",
               "1.0",
               {"--requires",
                "pear; platform_machine == 'aarch64'",
                "--requires",
                "fig; python_version < '3.9'",
                "--requires",
                "plum; platform_machine != 'aarch64'",
                "--requires",
                "sour[extra]; python_full_version >= '3.12.0' and sys_platform == 'linux'"});
  shop.package("sour",
               "1.0",
               {"--extra",
                "extra",
                "--requires",
                "lime; extra == 'extra'",
                "--requires",
                "pear; extra == 'no'"});
  for (const char* const name : {"pear", "fig", "plum", "lime", "quince"})
    shop.package(name, "1.0");
  const auto spec = PipWorkshop::asks_for({"apple", "quince; platform_machine == 'aarch64'"});
  using Names = std::vector<std::string>;
  auto lock = shop.lock(spec, {"linux-aarch64", "3.12"});
  CHECK(names_of(lock, "linux-aarch64 cp312") == Names{"apple", "lime", "pear", "quince", "sour"});
  lock = shop.lock(spec, {"linux-aarch64", "3.11.2"});
  CHECK(names_of(lock, "linux-aarch64 cp311") == Names{"apple", "pear", "quince"});
  lock = shop.lock(spec, {"linux-x86_64", "3.8"});
  CHECK(names_of(lock, "linux-x86_64 cp38") == Names{"apple", "fig", "plum"});
  CHECK(lock.layers.at(0).platforms.size() == 3);
}

TEST_CASE("pip: a pip that goes by its own machine is not believed") {
  PipWorkshop shop;
  const std::string apple =
      "{'download_info': {'url': 'http://x/apple-1.0-py3-none-any.whl', 'archive_info': {}}, "
      "'metadata': {'name': 'apple', 'version': '1.0', 'requires_dist': "
      "[\"pear>=2; platform_machine == 'aarch64'\"]}}";
  const std::string pear =
      "{'download_info': {'url': 'http://x/pear-1.0-py3-none-any.whl', 'archive_info': {}}, "
      "'metadata': {'name': 'pear', 'version': '1.0'}}";
  std::string packages;
  std::string problem;
  std::string machine = "aarch64";
  SECTION("what is needed there is missing") {
    packages = "[" + apple + "]";
    problem = "apple needs pear>=2; platform_machine == 'aarch64'";
  }
  SECTION("what is needed there is too old") {
    packages = "[" + apple + ", " + pear + "]";
    problem = "apple needs pear>=2; platform_machine == 'aarch64'";
  }
  SECTION("what is not needed there is not left out") {
    packages = "[" + apple + ", " + pear + "]";
    machine = "ppc64le";
    problem = "pear is too much";
  }
  base::write_file_atomically(shop.home / "main.py", deaf_pip(packages));
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.python = shop.support(
      {"bare_python.py", (shop.home / "python").string(), (shop.home / "main.py").string()});
  const auto error = error_of([&] { shop.lock(spec, {"linux-" + machine, "3.12"}); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "this pip goes by its own machine, not by " + machine));
  CHECK(contains(error.what(), problem));
  CHECK_FALSE(fs::exists(shop.lock_file()));
}

TEST_CASE("pip: what is no platform or no version is refused") {
  PipWorkshop shop;
  const auto spec = PipWorkshop::asks_for({"apple"});
  auto error = error_of([&] { shop.lock(spec, {"macosx-arm64", ""}); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "'macosx-arm64' is not a platform"));
  for (const char* const version : {"3", "3.x", "3.12.1.2", "three", "3."}) {
    error = error_of([&] { shop.lock(spec, {"", version}); });
    CHECK(error.kind() == base::ErrorKind::usage);
    CHECK(contains(error.what(), "'" + std::string(version) + "' is not a version of Python"));
  }
}

TEST_CASE("pip: a lock that lacks what a package needs fails the build") {
  PipWorkshop shop;
  shop.package(
      "apple", "1.0", {"--requires", "pear>=2", "--requires", "fig; python_version < '3'"});
  shop.package("pear", "2.0");
  const auto spec = PipWorkshop::asks_for({"apple"});
  auto lock = shop.lock(spec);
  std::erase_if(lock.layers[0].platforms[0].packages,
                [](const auto& package) { return package.name == "pear"; });
  shop.write_lock(lock);
  if (GENERATE(false, true))
    shop.options.environment["PATH"] = SABATH_UV ":" + shop.options.environment["PATH"];
  const auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "checking that the packages have what they need"));
  CHECK(contains(error.what(), "pear"));
}

TEST_CASE("pip: a Python without pip, and without what makes one, gets one by uv") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--code", "grown = 'here'"});
  auto spec = PipWorkshop::asks_for({"apple"});
  spec.layers[0].packages.python =
      shop.support({"bare_python.py", (shop.home / "python").string()});
  const auto error = error_of([&] { shop.lock(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "has no pip, and could not make a newer one"));
  CHECK(contains(error.hint(), "or uv"));

  shop.options.environment["PATH"] = SABATH_UV ":" + shop.options.environment["PATH"];
  CHECK(contains(error_of([&] { shop.lock(spec); }).what(), "could not make a newer one"));

  base::Command where;
  where.argv = {"python3", "-c", "import ensurepip; print(ensurepip.__path__[0])"};
  std::string bundled = shop.processes.run(where).output;
  bundled.pop_back();
  for (const auto& wheel : fs::directory_iterator(fs::path(bundled) / "_bundled")) {
    if (wheel.path().filename().string().starts_with("pip-"))
      fs::copy_file(wheel.path(), shop.index() / wheel.path().filename());
  }
  const auto lock = shop.lock(spec);
  CHECK(lock.layers.at(0).platforms.at(0).resolver.starts_with("pip 2"));
  CHECK(shop.python(shop.build(spec), "import apple; print(apple.grown)") == "here\n");
}
