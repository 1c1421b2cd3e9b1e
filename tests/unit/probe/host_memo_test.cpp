#include "support/fake_clock.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

spec::HostFacts facts_of(FakeHost& host, bool fresh = false) {
  base::SystemProcessRunner processes;
  test::FakeClock clock;
  return probe::probe_host(host.sources(), host.state(), processes, clock, fresh);
}

std::string model_of(FakeHost& host, bool fresh = false) {
  return facts_of(host, fresh).cpu.model;
}

const std::string old_model = "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz";

/// The processor's name would be another now, if it were looked at again.
void change_model(const FakeHost& host) {
  host.put("proc/cpuinfo", "model name\t: new\n");
}

/// Pretends that this is how many compilers it takes.
class CountingRunner final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token) override {
    ++runs;
    base::ProcessResult result;
    result.output = command.argv.front() + " 12.2.0\nCopyright\n";
    return result;
  }
  int runs = 0;
};

}  // namespace

TEST_CASE("host memo: what cannot change until the next boot is looked at once") {
  FakeHost host;
  const auto first = facts_of(host);
  CHECK(std::filesystem::exists(host.memo()));
  change_model(host);
  CHECK(facts_of(host) == first);
}

TEST_CASE("host memo: two environments in turn do not make each other forget") {
  FakeHost host;
  auto online = [&](const char* threads) {
    host.put("sys/devices/system/cpu/online", std::string(threads) + "\n");
  };
  online("0-1");
  facts_of(host);
  online("0-3");
  REQUIRE(model_of(host) == old_model);
  change_model(host);
  for (const char* threads : {"0-1", "0-3", "0-1"}) {
    online(threads);
    CHECK(model_of(host) == old_model);
  }
}

TEST_CASE("host memo: what boots of long ago left is removed") {
  FakeHost host;
  const auto folder = host.state() / "hosts";
  base::make_directories(folder);
  base::write_file_atomically(folder / "long-ago.json", "{}");
  base::write_file_atomically(folder / "another.json", "{}");
  std::filesystem::last_write_time(
      folder / "long-ago.json",
      std::filesystem::file_time_type::clock::now() - std::chrono::days(40));
  facts_of(host);
  CHECK_FALSE(std::filesystem::exists(folder / "long-ago.json"));
  CHECK(std::filesystem::exists(folder / "another.json"));
  CHECK(std::filesystem::exists(host.memo()));
}

TEST_CASE("host memo: what may change is looked at each time") {
  FakeHost host;
  facts_of(host);
  host.put("proc/loadavg", "7.5 0 0 1/1 1\n");
  host.put("proc/self/status", "Cpus_allowed_list:\t2\n");
  host.put("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 1 kB\n");
  host.sources().nvml_library = SABATH_FAKE_NVML;
  const auto facts = facts_of(host);
  CHECK(facts.load_1min == 7.5);
  CHECK(facts.cpu.effective_threads == 1);
  CHECK(facts.memory_available_bytes == 1024);
  CHECK(facts.gpus.size() == 4);  // two, one of them with two parts
  CHECK(facts.gpu_reason.empty());
  CHECK(facts.cpu.flags.size() == 4);  // from the memo, and not twice
}

TEST_CASE("host memo: it is not used after a boot, when asked, or when what it rests on changed") {
  FakeHost host;
  REQUIRE(model_of(host) == old_model);
  change_model(host);
  SECTION("another boot") {
    host.put("proc/sys/kernel/random/boot_id", "11111111-0000-4000-8000-00000000beef\n");
    CHECK(model_of(host) == "new");
  }
  SECTION("fresh") {
    CHECK(model_of(host, true) == "new");
    CHECK(model_of(host) == "new");  // and kept
  }
  SECTION("threads were switched off") {
    host.put("sys/devices/system/cpu/online", "0-1\n");
    CHECK(model_of(host) == "new");
  }
  SECTION("microcode was loaded") {
    host.put("sys/devices/system/cpu/cpu0/microcode/version", "0x5003605\n");
    CHECK(model_of(host) == "new");
  }
}

TEST_CASE("host memo: one that is damaged, foreign or open to others is ignored and replaced") {
  FakeHost host;
  REQUIRE(model_of(host) == old_model);
  change_model(host);
  SECTION("damaged") {
    base::write_file_atomically(host.memo(), R"({"schema": 1, "witness": )");
  }
  SECTION("of another version") {
    auto text = base::read_file(host.memo());
    text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 9");
    base::write_file_atomically(host.memo(), text);
  }
  SECTION("with a key that nobody knows") {
    auto text = base::read_file(host.memo());
    text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 1, \"odd\": 2");
    base::write_file_atomically(host.memo(), text);
  }
  SECTION("others may write it") {
    REQUIRE(::chmod(host.memo().c_str(), 0666) == 0);
  }
  SECTION("a link to elsewhere") {
    std::filesystem::rename(host.memo(), host.state() / "elsewhere");
    std::filesystem::create_symlink(host.state() / "elsewhere", host.memo());
  }
  if (::geteuid() == 0) {
    SECTION("another user's") {
      REQUIRE(::chown(host.memo().c_str(), 12345, 12345) == 0);
    }
  }
  CHECK(model_of(host) == "new");
  change_model(host);
  struct stat status {};
  REQUIRE(::lstat(host.memo().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
  CHECK(S_ISREG(status.st_mode));
}

TEST_CASE("host memo: a state folder that cannot be made costs only a second look") {
  FakeHost host;
  base::write_file_atomically(host.state(), "a file, no folder");
  CHECK(model_of(host) == old_model);
  change_model(host);
  CHECK(model_of(host) == "new");
}

TEST_CASE("host memo: compilers are started once") {
  FakeHost host;
  host.sources().run_tools = true;
  CountingRunner processes;
  test::FakeClock clock;
  const auto first = probe::probe_host(host.sources(), host.state(), processes, clock);
  REQUIRE(first.compilers.count("c++") == 1);
  CHECK_THAT(first.compilers.at("c++"), Catch::Matchers::EndsWith("/c++ 12.2.0"));
  const int runs = processes.runs;
  CHECK(runs == static_cast<int>(first.compilers.size()));
  const auto second = probe::probe_host(host.sources(), host.state(), processes, clock);
  CHECK(processes.runs == runs);
  CHECK(second.compilers == first.compilers);
}
