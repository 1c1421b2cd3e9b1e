// What packages are checked with, and what is said of one that cannot be imported.
#include "pip_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace sabath;
using test::any_contains;
using test::contains;
using test::error_of;
using test::PipWorkshop;

TEST_CASE("pip: what is imported is given the variables of the recipe's stages") {
  PipWorkshop shop;
  shop.package("apple",
               "1.0",
               {"--code",
                "import os\n"
                "if os.environ.get('FRUIT_BACKEND') != 'tree':\n"
                "    raise ValueError('no backend\\nchoose one')"});
  auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(std::string(error.what()) ==
        "environment layer 'python': cannot import apple: ValueError: no backend choose one");
  CAPTURE(error.hint());
  CHECK(contains(error.hint(),
                 "if the module needs a variable, add it to \"variables\" of the stage"));
  CHECK(contains(error.hint(), "the prefix stays, to be checked again ("));
  CHECK(contains(error.hint(), "'sabath env rm "));
  CHECK(contains(base::read_file(shop.store().list().at(0).log), "raise ValueError"));

  // With the variable it is checked again, without --retry, and installed once.
  shop.observer.notes.clear();
  spec.stage_variables[""] = {{"FRUIT_BACKEND", "tree"}};
  CHECK_FALSE(shop.find(spec).has_value());
  CHECK_NOTHROW(shop.build(spec));
  CHECK_FALSE(any_contains(shop.observer.notes, "installing"));
  CHECK(shop.find(spec).has_value());
  spec.stage_variables[""] = {{"FRUIT_BACKEND", "bush"}};
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "cannot import apple: ValueError"));
}

TEST_CASE("pip: a module that ends Python is named") {
  PipWorkshop shop;
  shop.package("apple", "1.0", {"--code", "import os\nos.kill(os.getpid(), 11)"});
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.lock(spec);
  CHECK(contains(error_of([&] { shop.build(spec); }).what(),
                 "cannot import apple: Python was killed by signal 11"));
}

TEST_CASE("pip: compiled Python that a package brought is not drift: the build compiles it anew") {
  PipWorkshop shop;
  const auto spec = PipWorkshop::asks_for({"apple"});
  shop.package("apple", "1.0");
  shop.lock(spec);
  const fs::path lib = fs::path(*shop.build(spec).prefix()) / "lib";
  const fs::path packages = fs::directory_iterator(lib)->path() / "site-packages";
  const fs::path record = packages / "apple-1.0.dist-info/RECORD";
  const fs::path compiled = packages / "apple/__pycache__/__init__.cpython-311.pyc";
  for (const fs::path& path : {packages, record.parent_path(), record, compiled.parent_path()})
    fs::permissions(path, fs::perms::owner_all);
  std::ofstream(record, std::ios::app)
      << "apple/__pycache__/__init__.cpython-311.pyc,sha256=Q0acz,14203\n";
  fs::remove(compiled);
  std::ofstream(compiled) << "as a copy of the home has it";
  CHECK(shop.store().list().at(0).drift.empty());
  fs::permissions(packages / "apple", fs::perms::owner_all);
  fs::remove(packages / "apple/__init__.py");
  std::ofstream(packages / "apple/__init__.py") << "x = 1\n";
  CHECK(shop.store().list().at(0).drift.size() == 1);
}
