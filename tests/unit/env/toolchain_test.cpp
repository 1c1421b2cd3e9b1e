#include "env/tools/toolchain.hpp"

#include "env_workshop.hpp"
#include "support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;

namespace {

/// Answers for a compiler and remembers what was asked.
class CompilerFake final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token) override {
    asked.push_back(command.argv);
    base::ProcessResult result;
    if (asked.size() == hangs_at) {
      result.end = base::ProcessEnd::timed_out;
      return result;
    }
    if (command.argv.back() == "--version") result.output = version + "\nCopyright\n";
    if (command.argv.back() == "-dumpmachine") result.output = "riscv64-linux-gnu\n";
    if (command.argv.back().starts_with("-print-prog-name=")) result.output = backend + "\n";
    return result;
  }
  std::vector<std::vector<std::string>> asked{};
  std::size_t hangs_at = 0;  ///< the first question is 1
  std::string version = "gcc 99.1";
  std::string backend = "cc1";
};

struct Bench {
  test::TempHome home{};
  test::FakeClock clock{};
  CompilerFake compiler{};
  base::Environment environment{{"PATH", (home / "bin").string()}};

  Bench() {
    write("bin/gcc");
    write("bin/ccache");
    write("lib/cc1");
    // The files were made long ago, as far as this clock knows.
    clock.move(base::SystemClock().now() + std::chrono::hours(1) - clock.now());
  }
  void write(const std::string& name) const {
    base::make_directories((home / name).parent_path());
    base::write_file_atomically(home / name, name, base::Durability::ordered_only, 0755);
  }
  std::optional<env::Tool> find(const std::string& command) {
    auto memo = std::make_shared<env::Memo>(home / "state/memo.json", clock);
    return env::Toolchain(compiler, memo).compiler("c", command, environment);
  }
};

}  // namespace

TEST_CASE(
    "toolchain: a compiler is its version, its target and its fixed arguments, not its path") {
  Bench bench;
  const auto found = bench.find("gcc -m32");
  REQUIRE(found);
  CHECK(found->identity == "gcc 99.1; riscv64-linux-gnu -m32");
  CHECK(found->command == std::vector<std::string>{(bench.home / "bin/gcc").string(), "-m32"});
  CHECK_FALSE(bench.find("icc").has_value());
  CHECK_FALSE(bench.find(" ").has_value());
}

TEST_CASE("toolchain: a compiler is asked once, until it changes") {
  Bench bench;
  bench.find("gcc");
  const std::size_t questions = bench.compiler.asked.size();
  CHECK(bench.find("gcc")->identity == "gcc 99.1; riscv64-linux-gnu");
  CHECK(bench.compiler.asked.size() == questions);

  bench.compiler.version = "gcc 99.2";
  bench.write("bin/gcc");
  CHECK(bench.find("gcc")->identity == "gcc 99.2; riscv64-linux-gnu");
}

TEST_CASE("toolchain: behind a wrapper it is the compiler itself that is watched") {
  Bench bench;
  bench.compiler.backend = (bench.home / "lib/cc1").string();
  bench.find("ccache gcc");
  bench.compiler.version = "gcc 99.2";
  CHECK(bench.find("ccache gcc")->identity == "gcc 99.1; riscv64-linux-gnu");
  SECTION("the wrapped program changes") {
    bench.write("bin/gcc");
  }
  SECTION("the program that does the work changes") {
    bench.write("lib/cc1");
  }
  SECTION("what a layer sets changes") {
    bench.environment["MPICH_CC"] = "clang";
  }
  SECTION("the memo is damaged") {
    base::write_file_atomically(bench.home / "state/memo.json", "{\"entries\": 3");
  }
  SECTION("others could have written the memo") {
    fs::permissions(bench.home / "state/memo.json", fs::perms::all);
  }
  CHECK(bench.find("ccache gcc")->identity == "gcc 99.2; riscv64-linux-gnu");
}

TEST_CASE("toolchain: what changed a moment ago is not remembered") {
  Bench bench;
  bench.clock.move(-std::chrono::hours(1));
  bench.find("gcc");
  bench.compiler.version = "gcc 99.2";
  CHECK(bench.find("gcc")->identity == "gcc 99.2; riscv64-linux-gnu");
}

TEST_CASE("toolchain: no answer in time is an error, never another identity, and not remembered") {
  Bench bench;
  std::string asked;
  SECTION("of its version") {
    bench.compiler.hangs_at = 1;
    asked = "gcc --version'";
  }
  SECTION("of its target") {
    bench.compiler.hangs_at = 2;
    asked = "gcc -dumpmachine'";
  }
  const auto error = test::error_of([&] { bench.find("gcc"); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(test::contains(error.what(), asked + ": did not end within 60 s"));
  CHECK(bench.find("gcc")->identity == "gcc 99.1; riscv64-linux-gnu");
}
