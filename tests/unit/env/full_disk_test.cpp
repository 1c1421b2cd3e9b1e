// What tools say when the disk is full, without a disk that is: tests/integration/full_disk.sh has
// one.
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;
using test::contains;
using test::error_of;

namespace {

/// A layer that is locked with a tool, and the tool's words, after upstream's sources.
struct Tool {
  const char* program;
  spec::LayerKind kind;
  const char* says;
};

spec::LayerSpec layer_for(const Tool& tool) {
  spec::LayerSpec layer;
  layer.kind = tool.kind;
  layer.name = "layer";
  layer.origin.git = "https://127.0.0.1:1/code.git";
  layer.build = "make";
  layer.packages.requirements = {"apple"};
  layer.packages.channels = {"https://127.0.0.1:1/channel"};
  layer.container.image = "127.0.0.1:1/image:1";
  if (tool.kind != spec::LayerKind::source) layer.origin = {};
  return layer;
}

}  // namespace

TEST_CASE("full disk: a tool that finds no room is told as that, not as a network or a recipe") {
  const Tool tool =
      GENERATE(Tool{"git", spec::LayerKind::source, "fatal: write error: No space left on device"},
               Tool{"git", spec::LayerKind::source, "error: file write error: Disk quota exceeded"},
               Tool{"micromamba",
                    spec::LayerKind::conda,
                    "critical libmamba filesystem error: Connection: No space left on device"},
               Tool{"skopeo",
                    spec::LayerKind::container,
                    "level=fatal msg=\"timeout: write /x: no space left on device\""});
  test::EnvWorkshop shop;
  base::make_directories(shop.recipe());
  const fs::path programs = shop.home / "programs";
  base::make_directories(programs);
  base::write_file_atomically(programs / tool.program,
                              "#!/bin/sh\ncase $1 in --version) echo 2.0.5; exit 0;; esac\necho '" +
                                  std::string(tool.says) + "' >&2\nexit 128\n",
                              base::Durability::ordered_only,
                              0755);
  shop.options.environment = {{"PATH", programs.string() + ":/usr/bin:/bin"}};
  const auto error = error_of([&] {
    shop.store().lock_packages({{}, {layer_for(tool)}}, shop.recipe(), {}, {}, shop.observer);
  });
  CAPTURE(tool.says, error.what());
  CHECK(error.kind() == base::ErrorKind::storage);
  CHECK((contains(error.what(), "No space left on device") ||
         contains(error.what(), "Disk quota exceeded")));
  CHECK(contains(error.hint(), "make room"));
}
