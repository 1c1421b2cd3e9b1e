#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;

namespace {

/// A layer whose build waits until the file "go" is there.
struct Shop : test::EnvWorkshop {
  spec::EnvironmentSpec spec{{}, {test::source_layer("make")}};

  Shop() {
    write("code/Makefile",
          test::script_makefile("@echo waiting; while [ ! -e $(GO) ]; do sleep 0.02; done"));
    spec.layers[0].options["GO"] = (home / "go").string();
  }
  void go() const { base::write_file_atomically(home / "go", ""); }

  /// Builds in a process of its own, which leaves its prefix in the file `name`.
  pid_t build_elsewhere(const std::string& name) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    int status = 1;
    try {
      base::write_file_atomically(home / name, *build(spec).prefix());
      status = 0;
    } catch (const std::exception& error) {
      base::write_file_atomically(home / name, error.what());
    }
    ::_exit(status);
  }
  void wait_for_builders(std::size_t count) const {
    const auto waiting = [](const fs::path& attempt) {
      return test::contains(base::read_file_if_exists(attempt / "build.log").value_or(""),
                            "\nwaiting");
    };
    for (int tries = 0; tries < 3000; ++tries) {
      const auto found = attempts();
      if (found.size() >= count && std::all_of(found.begin(), found.end(), waiting)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("the builders did not begin");
  }
};

int status_of(pid_t pid) {
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return status;
}

}  // namespace

TEST_CASE("concurrent builds: of four at once all succeed, one is kept, all use that one") {
  Shop shop;
  std::vector<pid_t> builders;
  for (const char* name : {"0", "1", "2", "3"})
    builders.push_back(shop.build_elsewhere(name));
  shop.wait_for_builders(4);
  shop.go();
  for (const pid_t builder : builders)
    CHECK(status_of(builder) == 0);
  REQUIRE(shop.attempts().size() == 1);
  const std::string prefix = (shop.attempts()[0] / "prefix").string();
  for (const char* name : {"0", "1", "2", "3"})
    CHECK(base::read_file(shop.home / name) == prefix);
  CHECK(shop.find(shop.spec)->prefix() == prefix);
}

TEST_CASE("concurrent builds: a builder killed with -9 leaves nothing that passes for ready") {
  Shop shop;
  const pid_t builder = shop.build_elsewhere("0");
  shop.wait_for_builders(1);
  const fs::path orphan = shop.attempts().at(0);
  CHECK(shop.store().list().at(0).state == "building");
  REQUIRE(::kill(builder, SIGKILL) == 0);
  CHECK(WIFSIGNALED(status_of(builder)));
  CHECK_FALSE(shop.find(shop.spec).has_value());
  CHECK(shop.store().list().at(0).state == "failed");
  shop.go();
  const auto built = shop.build(shop.spec);
  CHECK(fs::exists(fs::path(*built.prefix()) / "bin/hello"));
  CHECK_FALSE(fs::exists(orphan));
  CHECK(shop.attempts().size() == 1);
}

TEST_CASE("concurrent builds: what somebody builds is neither removed nor taken for abandoned") {
  Shop shop;
  const pid_t builder = shop.build_elsewhere("0");
  shop.wait_for_builders(1);
  auto store = shop.store();
  const std::string key = store.list().at(0).lock.key.hex;
  const auto error = test::error_of([&] { store.remove(key); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(test::contains(error.what(), "it is being built"));
  const pid_t second = shop.build_elsewhere("1");
  shop.wait_for_builders(2);
  shop.go();
  CHECK(status_of(builder) == 0);
  CHECK(status_of(second) == 0);
}
