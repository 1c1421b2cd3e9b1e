// File systems that refuse, lie about locks, or fill up: a right object, or a storage error that
// says so, and nothing in between. The faults are those of tests/support/programs/fault_shim.c,
// preloaded into the real program.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>

using namespace sabath::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr int storage_status = 16;
using Faults = std::vector<std::pair<std::string, std::string>>;

/// The program on a cache that misbehaves, and a source of some size for it.
class FaultyCache {
 public:
  FaultyCache() {
    std::mt19937 random(20261121);
    std::string content(5U << 20U, '\0');
    for (char& c : content)
      c = static_cast<char>(random());
    write_text(sabath_.folder() / "source.bin", content);
    digest_ = sabath::base::sha256_of(content).hex;
  }

  Sabath& with(const Faults& faults) {
    // A sanitizer wants to be the first library; this shim calls the kernel and disturbs none.
    sabath_.environment()["ASAN_OPTIONS"] = "verify_asan_link_order=0";
    sabath_.environment()["LD_PRELOAD"] = SABATH_TEST_PROGRAMS "/fault_shim.so";
    sabath_.environment()["FAULT_PATH"] = (sabath_.cache() / "").string();
    for (const auto& [name, value] : faults)
      sabath_.environment()[name] = value;
    return sabath_;
  }
  Sabath& without_faults() {
    for (const char* name : {"FAULT_LOCKS",
                             "FAULT_STALE",
                             "FAULT_FULL",
                             "FAULT_LATE",
                             "FAULT_SYNC",
                             "FAULT_CLOSE",
                             "FAULT_SHORT"})
      sabath_.environment().erase(name);
    return sabath_;
  }
  std::vector<std::string> fetch() const {
    return {"fetch", "file://" + (sabath_.folder() / "source.bin").string(), "--sha256", digest_};
  }
  bool has_object() const {
    const fs::path object =
        sabath_.cache() / "objects/sha256" / digest_.substr(0, 2) / digest_.substr(2);
    return fs::exists(object) && sabath::base::digest_file(object).hex == digest_;
  }
  /// Nothing is half done: all that is there is right, and the same command gets it done.
  void check_sound() {
    without_faults();
    CHECK(sabath_({"verify", "--full"}).status == 0);
    const Answer again = sabath_(fetch());
    INFO(again.errors);
    CHECK(again.status == 0);
    CHECK(has_object());
  }

 private:
  Sabath sabath_{};
  std::string digest_{};
};

}  // namespace

TEST_CASE(
    "cli: a cache where locks lock nothing, or do not work, takes the same file from eight at "
    "once") {
  FaultyCache cache;
  Sabath& sabath = cache.with({{"FAULT_LOCKS", GENERATE("granted", "ENOLCK")}});
  std::vector<std::unique_ptr<Running>> running;
  for (int i = 0; i < 8; ++i)
    running.emplace_back(new Running(sabath.start(cache.fetch())));  // it cannot be moved
  for (auto& each : running)
    CHECK(each->wait().status == 0);
  CHECK(cache.has_object());
  cache.check_sound();
}

TEST_CASE(
    "cli: a disk or a quota that is full at any byte is said to be full, and what came is kept") {
  FaultyCache cache;
  const std::string kind = GENERATE("ENOSPC", "EDQUOT");
  const std::string bytes = GENERATE("0", "200", "1048576", "3145733");
  const bool late = GENERATE(true, false);
  Faults faults{{"FAULT_FULL", kind + ":" + bytes}};
  if (late) faults.emplace_back("FAULT_LATE", "1");
  const Answer answer = cache.with(faults)(cache.fetch());
  INFO(kind << ":" << bytes << " " << answer.errors);
  CHECK(answer.status == storage_status);
  CHECK_THAT(answer.errors, Contains(kind == "EDQUOT" ? "quota" : "No space left"));
  CHECK_THAT(answer.errors, Contains("SABATH_CACHE"));
  CHECK_FALSE(cache.has_object());
  cache.check_sound();
}

TEST_CASE("cli: writes that take little at a time are gone on with") {
  FaultyCache cache;
  CHECK(cache.with({{"FAULT_SHORT", "4097"}})(cache.fetch()).status == 0);
  CHECK(cache.has_object());
  cache.check_sound();
}

TEST_CASE("cli: an input/output error when the file is synced is an error, not an object") {
  FaultyCache cache;
  const Answer answer = cache.with({{"FAULT_SYNC", "EIO"}})(cache.fetch());
  CHECK(answer.status == storage_status);
  CHECK_THAT(answer.errors, Contains("Input/output error"));
  CHECK_FALSE(cache.has_object());
  cache.check_sound();
}

TEST_CASE("cli: an input/output error at a close does no harm to what was synced before") {
  FaultyCache cache;
  const Answer answer = cache.with({{"FAULT_CLOSE", "EIO"}})(cache.fetch());
  INFO(answer.errors);
  CHECK((answer.status == 0 ? cache.has_object() : answer.status == storage_status));
  cache.check_sound();
}

TEST_CASE("cli: stale file handles end in the object or in a storage error") {
  FaultyCache cache;
  const Answer answer =
      cache.with({{"FAULT_STALE", GENERATE("1", "2", "5", "20", "1000000")}})(cache.fetch());
  INFO(answer.errors);
  CHECK((answer.status == 0 ? cache.has_object() : answer.status == storage_status));
  cache.check_sound();
}
