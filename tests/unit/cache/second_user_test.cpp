// A member of the group moves, links and exchanges what it can, while the victim works.
#include "support/second_user.hpp"

#include "shared_cache.hpp"
#include "tar_file.hpp"

#include <sabath/base/own_tree.hpp>
#include <sabath/env/environment.hpp>

#include <cache/layout.hpp>
#include <cache/records_json.hpp>
#include <env/store/key_folder.hpp>
#include <env/store/request_folder.hpp>
#include <execution/stage_in/node_staging.hpp>
#include <execution/stage_in/staged_copy.hpp>

#include <atomic>
#include <iostream>

#include <sys/mman.h>

using namespace sabath;
using test::Child;
using test::SharedCache;

namespace fs = std::filesystem;

namespace {

/// Shared with the victim's process.
struct Counts {
  std::atomic<std::uint64_t> steps{};
  std::atomic<std::uint64_t> refused{};
};

Counts& shared_counts() {
  void* const memory =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) Counts;
}

/// Records of the attacker's.
void plant(const fs::path& root) {
  const cache::Layout layout(root);
  const std::string url = "https://host.example/pinned";
  try {
    base::write_file_atomically(
        layout.source(url),
        cache::record_text(
            cache::SourceRecord{.url = url, .digest = base::sha256_of("evil"), .size_bytes = 4}));
    const auto archive = base::sha256_of(test::tar_of({{"a", "right"}}));
    base::write_file_atomically(
        layout.unpacked(archive),
        cache::record_text(cache::UnpackedTree{archive, base::sha256_of("evil")}));
  } catch (const base::Error&) {
    return;
  }
}

/// One round of everything that makes, moves or removes. An attack may make any of it fail; it may
/// not make it do harm.
class Victim {
 public:
  Victim(fs::path home, Counts& counts) : home_(std::move(home)), counts_(counts) {}

  std::string round(unsigned number) {
    step([&] { fetch(number); });
    step([&] { unpack(); });
    step([&] { records(); });
    step([&] {
      cache::CacheMaintenance(root(), state(), clock_)
          .collect({{}, {}, std::chrono::seconds(0), false}, observer_);
    });
    step([&] { repair(number); });
    step([&] { environments(); });
    step([&] { node("scratch"); });
    step([&] { node("sticky"); });
    return problem_;
  }
  std::string problem() const { return problem_; }

 private:
  fs::path root() const { return home_ / "shared/cache"; }
  fs::path state() const { return home_ / "state"; }

  template <class Work>
  void step(Work&& work) {
    ++counts_.steps;
    try {
      work();
    } catch (const base::Error&) {
      ++counts_.refused;
    } catch (const fs::filesystem_error&) {
      ++counts_.refused;
    }
  }
  void fetch(unsigned number) {
    cache::Cache cache(root(), state(), clock_);
    const std::string text = "content " + std::to_string(number % 7);
    auto partial = cache.open_partial("key " + std::to_string(number % 3), {base::sha256_of(text)});
    partial->reserve(text.size());
    partial->write_at(0, base::as_bytes(text));
    const auto object = cache.publish(std::move(partial), {base::sha256_of(text)});
    auto tree = cache.open_partial_tree("tree " + std::to_string(number % 3));
    tree->open("a/b", {}).write_at(0, base::as_bytes(text));
    tree->finish("a/b", "");
    tree->add("c", object);
    cache.publish(std::move(tree));
  }
  void unpack() {
    const fs::path tar = home_ / "state/right.tar";
    const std::string text = test::tar_of({{"a", "right"}});
    base::write_file_atomically(tar, text);
    cache::Cache cache(root(), state(), clock_);
    auto archive = cache.publish_file(tar);
    archive.path = tar;
    const auto tree = cache.publish_archives({{archive, "tar", {}, {}}}, {}, observer_);
    for (const base::ArchiveEntry& entry : cache.entries(tree)) {
      if (entry.digest != base::sha256_of("right")) problem_ = "believes a planted tree";
    }
  }
  void records() {
    cache::Cache cache(root(), state(), clock_);
    if (cache.source("https://host.example/pinned")) problem_ = "believes a planted source";
    cache.remember_source({.url = "https://host.example/own", .digest = base::sha256_of("own")});
  }
  void repair(unsigned number) {
    cache::Cache cache(root(), state(), clock_);
    const std::string text = "content " + std::to_string(number % 7);
    auto partial = cache.open_repair(base::sha256_of(text));
    partial->write_at(0, base::as_bytes(text));
    cache.publish(std::move(partial), {base::sha256_of(text)});
    cache.verify(true, observer_);
  }
  void environments() {
    env::EnvironmentStore store(root() / "envs", processes_, clock_, {.state_directory = state()});
    const env::RequestFolder request(root() / "envs", clock_.now());
    const env::KeyFolder key(root() / "envs/source" / std::string(32, 'a'));
    const env::AttemptFolder attempt = key.begin();
    env::AttemptRecord record;
    record.state = "failed";
    record.started = "2020-01-01T00:00:00Z";
    record.builder = base::ProcessIdentity::current();
    env::write_attempt_record(attempt.record(), record);
    key.publish(attempt);
    key.remove_remains(clock_.now() + std::chrono::hours(100), std::chrono::hours(1));
    for (const fs::path& left : store.leftovers())
      base::remove_own_tree(left);
    key.remove();
  }
  void node(const std::string& name) {
    const fs::path scratch = home_ / "shared" / name;
    const execution::ScratchFolder own(scratch);
    const auto source = home_ / "state/right.tar";
    execution::StagedCopy::make(scratch,
                                execution::files_to_copy(base::sha256_of("x").hex, source, {}),
                                clock_,
                                observer_,
                                {});
  }

  fs::path home_;
  Counts& counts_;
  base::SystemClock clock_{};
  base::SilentObserver observer_{};
  base::SystemProcessRunner processes_{};
  std::string problem_{};
};

}  // namespace

TEST_CASE("second user: whatever is moved, linked and exchanged, nothing outside is touched",
          "[long]") {
  if (SharedCache::is_skipped()) return;
  const test::TempHome home;
  const test::Canaries canaries(home.path());
  test::make_for_group(home / "shared/cache", 02775);
  test::make_for_group(home / "shared/scratch", 02775);
  test::make_for_group(home / "shared/sticky", 03775);
  test::make_for_group(home / "state", 0755);
  Counts& counts = shared_counts();
  test::Attack attack(home.path(), [&] { plant(home / "shared/cache"); });
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread
  const char* const wanted = std::getenv("SABATH_TEST_ROUNDS");
  const unsigned rounds = wanted == nullptr ? 60 : static_cast<unsigned>(std::atoi(wanted));
  Child victim([&]() -> std::string {
    if (!test::become_member(test::victim_user)) return "cannot become the victim";
    Victim work(home.path(), counts);
    for (unsigned number = 0; number < rounds; ++number) {
      const std::string problem = work.round(number);
      if (!problem.empty()) return problem;
    }
    return "";
  });
  attack.heal();
  const std::string problem = victim.wait();
  attack.end();
  CHECK(problem == "");
  CHECK(canaries.harm() == "");
  CHECK(attack.count() > 0);
  CHECK(counts.refused > 0);
  CHECK(counts.refused < counts.steps);
  std::cout << "second user: " << counts.steps << " steps of the victim, " << counts.refused
            << " of them refused, " << attack.count() << " attacks that the kernel allowed\n";
}
