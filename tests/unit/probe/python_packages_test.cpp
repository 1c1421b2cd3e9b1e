#include "support/temp_home.hpp"

#include <sabath/probe/python_packages.hpp>

#include <catch2/catch.hpp>

#include <fstream>

using namespace sabath;
namespace fs = std::filesystem;
using Packages = std::map<std::string, std::string>;

namespace {

Packages python_packages(const fs::path& interpreter, const base::Environment& environment) {
  const auto packages = probe::python_packages(interpreter, environment);
  REQUIRE(packages);
  return *packages;
}

/// A tree as a distribution's, whose Python is never started.
struct Tree {
  test::TempHome home{};
  fs::path root = home.path();

  void package(const fs::path& folder, const std::string& metadata) const {
    fs::create_directories(root / folder / metadata);
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  fs::path python(const fs::path& folder = "usr/bin") const {
    write("usr/bin/python3.11", "");
    fs::create_directories(root / folder);
    const fs::path link = root / folder / "python3";
    if (!fs::exists(link)) fs::create_symlink(root / "usr/bin/python3.11", link);
    return link;
  }
};

}  // namespace

TEST_CASE("python: by its name") {
  for (const char* name : {"python", "python3", "python3.11"})
    CHECK(probe::is_python(name));
  for (const char* name : {"python3-config", "ipython", "pypy3", "", "pytho"})
    CHECK_FALSE(probe::is_python(name));
}

TEST_CASE("python: the first folder in which it looks says which version it imports") {
  const Tree tree;
  const fs::path python = tree.python();
  tree.package("usr/lib/python3/dist-packages", "numpy-1.24.2.dist-info");
  tree.package("usr/lib/python3/dist-packages", "six-1.16.0.egg-info");
  tree.package("usr/local/lib/python3.11/dist-packages", "numpy-1.26.4.dist-info");
  tree.package("usr/lib/python3.12/site-packages", "other-1.dist-info");
  CHECK(python_packages(python, {}) == Packages{{"numpy", "1.26.4"}, {"six", "1.16.0"}});
  tree.package("home/.local/lib/python3.11/site-packages", "numpy-2.0.0.dist-info");
  base::Environment environment{{"HOME", (tree.root / "home").string()}};
  CHECK(python_packages(python, environment).at("numpy") == "2.0.0");
  tree.package("mine", "numpy-2.4.6.dist-info");
  environment["PYTHONPATH"] = "mine:/nowhere:" + (tree.root / "mine").string();
  CHECK(python_packages(python, environment).at("numpy") == "2.4.6");
  environment.erase("PYTHONPATH");
  environment["PYTHONNOUSERSITE"] = "1";
  CHECK(python_packages(python, environment).at("numpy") == "1.26.4");
}

TEST_CASE("python: a virtual environment has its own packages, and others where it says so") {
  const Tree tree;
  const fs::path python = tree.python("venv/bin");
  tree.package("usr/lib/python3/dist-packages", "six-1.16.0.dist-info");
  tree.package("venv/lib/python3.11/site-packages", "Torch_Geometric-2.5.dist-info");
  tree.package("venv/lib/python3.11/site-packages", "~orch-2.0.dist-info");
  tree.package("venv/lib/python3.11/site-packages", "mine-0.1.dist-info");
  tree.write("venv/lib/python3.11/site-packages/mine-0.1.dist-info/direct_url.json",
             R"({"dir_info": {"editable": true}, "url": "file:///src/mine"})");
  tree.write("venv/pyvenv.cfg", "home = " + (tree.root / "usr/bin").string() + "\n");
  const Packages own{{"mine", "0.1 (editable)"}, {"torch-geometric", "2.5"}};
  CHECK(python_packages(python, {}) == own);
  tree.write(
      "venv/pyvenv.cfg",
      "home = " + (tree.root / "usr/bin").string() + "\ninclude-system-site-packages = true\n");
  CHECK(python_packages(python, {}).at("six") == "1.16.0");
}

TEST_CASE("python: a link from elsewhere leads to where it is installed") {
  const Tree tree;
  tree.python();
  tree.package("usr/lib/python3/dist-packages", "six-1.16.0.dist-info");
  fs::create_directories(tree.root / "bin");
  fs::create_symlink(tree.root / "usr/bin/python3", tree.root / "bin/python3");
  CHECK(python_packages(tree.root / "bin/python3", {}) == Packages{{"six", "1.16.0"}});
}

TEST_CASE("python: folders that are not there, or hold other things, say nothing") {
  const Tree tree;
  CHECK_FALSE(probe::python_packages(tree.root / "bin/python3", {}));
  const fs::path python = tree.python();
  for (const char* entry : {"numpy", "x.dist-info", "-1.dist-info", "a-.dist-info", ".dist-info"})
    tree.package("usr/lib/python3/dist-packages", entry);
  CHECK(python_packages(python, {}).empty());
}
