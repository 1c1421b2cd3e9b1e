#include "cache_home.hpp"
#include "support/child.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"

#include <cache/layout.hpp>
#include <cache/partials/claim.hpp>
#include <catch2/catch.hpp>

#include <atomic>

#include <sys/mman.h>

using namespace sabath;
using base::as_bytes;
using base::ProcessIdentity;
using cache::ClaimRecord;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::error_of;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// A counter that forked processes share.
class SharedCounter {
 public:
  SharedCounter()
      : count_(new (::mmap(nullptr,
                           sizeof(std::atomic<int>),
                           PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS,
                           -1,
                           0)) std::atomic<int>(0)) {}
  ~SharedCounter() { ::munmap(count_, sizeof(std::atomic<int>)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  int operator++() { return ++*count_; }
  int value() const { return *count_; }

 private:
  std::atomic<int>* count_;
};

ClaimRecord stranger() {
  ClaimRecord record;
  record.nonce = "1234";
  record.host = "node17";
  record.process = ProcessIdentity{"otherhost", "boot", 1, 99, 1};
  record.job = "4711";
  record.done_bytes = 10;
  record.total_bytes = 100;
  return record;
}

fs::path put_claim(const CacheHome& home, const std::string& key, const std::string& text) {
  const fs::path path = cache::Layout(home.root()).claim(key);
  fs::create_directories(path.parent_path());
  base::write_file_atomically(path, text, base::Durability::ordered_only);
  return path;
}

/// A cache that takes time from a clock of the test.
cache::Cache open_with(const CacheHome& home, base::Clock& clock) {
  return {home.root(), home / "state", clock};
}

}  // namespace

TEST_CASE("claim: what it says is read again, and nothing else passes for one") {
  const ClaimRecord record = stranger();
  const std::string text = cache::claim_text(record);
  CHECK(cache::parse_claim(text) == record);
  CHECK(cache::parse_claim(cache::claim_text({"n", 7, "h", record.process, "", 0, {}})));
  CHECK_FALSE(cache::parse_claim(""));
  CHECK_FALSE(cache::parse_claim(text.substr(0, text.size() / 2)));
  CHECK_FALSE(cache::parse_claim(R"({"schema": 2})"));
}

TEST_CASE("claim: only one has it, the bytes change while it lives, and it goes with its holder") {
  CacheHome home;
  const cache::Layout layout(home / "");
  const fs::path path = home / "claims/key";
  auto holder = stranger();
  auto claim = cache::Claim::take(layout, path, holder, 5ms);
  REQUIRE(claim);
  holder.nonce = "5678";
  CHECK_FALSE(cache::Claim::take(layout, path, holder, 5ms));
  claim->set_progress(77, 200);
  const auto seen = [&] { return cache::parse_claim(cache::read_claim(path).value()).value(); };
  for (int i = 0; i < 4000 && seen().done_bytes != 77; ++i)
    std::this_thread::sleep_for(5ms);
  CHECK(seen().done_bytes == 77);
  CHECK(seen().total_bytes == 200);
  CHECK(seen().beat > 0);
  claim.reset();
  CHECK(entries_in(home / "claims") == 0);
}

TEST_CASE("claim: who lost it leaves it to the one that has it now") {
  CacheHome home;
  const cache::Layout layout(home / "");
  const fs::path path = home / "claims/key";
  auto claim = cache::Claim::take(layout, path, stranger(), 2ms);
  auto other = stranger();
  other.nonce = "other";
  const auto holder = [&] { return cache::parse_claim(cache::read_claim(path).value())->nonce; };
  // A beat that is under way replaces the new claim once. A holder that does not look does so
  // always.
  for (int i = 0; i < 20 && holder() != "other"; ++i) {
    base::write_file_atomically(path, cache::claim_text(other));
    std::this_thread::sleep_for(30ms);
  }
  claim.reset();
  CHECK(holder() == "other");
}

TEST_CASE("claim: one that changed since it was judged is not buried") {
  CacheHome home;
  const cache::Layout layout(home / "");
  const fs::path path = home / "claims/key";
  fs::create_directories(path.parent_path());
  base::write_file_atomically(path, "new holder");
  cache::bury_claim(layout.beneath(), path, "old holder");
  CHECK(base::read_file(path) == "new holder");
  cache::bury_claim(layout.beneath(), path, "new holder");
  CHECK(entries_in(home / "claims") == 0);
}

TEST_CASE("single flight: what is there is not done, what is not is done once") {
  CacheHome home;
  auto cache = home.open();
  base::SilentObserver observer;
  int done = 0;
  const cache::Flight flight{"work", [&] { return done > 0; }, [&](base::Observer&) { ++done; }};
  CHECK(cache.single_flight("key", flight, observer));
  CHECK_FALSE(cache.single_flight("key", flight, observer));
  CHECK(done == 1);
  CHECK(entries_in(home.root() / "claims") == 0);
}

TEST_CASE("single flight: a failure is passed on, and the claim is gone") {
  CacheHome home;
  auto cache = home.open();
  base::SilentObserver observer;
  const cache::Flight flight{
      "work",
      [] { return false; },
      [](base::Observer&) { throw base::Error(base::ErrorKind::transfer, "no luck"); }};
  const auto error = error_of([&] { cache.single_flight("key", flight, observer); });
  REQUIRE(error);
  CHECK(std::string(error->what()) == "no luck");
  CHECK(entries_in(home.root() / "claims") == 0);
}

TEST_CASE("single flight: a silent holder elsewhere is given up after its time, no sooner") {
  CacheHome home;
  test::FakeClock clock;
  auto cache = open_with(home, clock);
  test::RecordingObserver observer;
  const bool readable = GENERATE(true, false);
  put_claim(home, "key", readable ? cache::claim_text(stranger()) : "half a rec");
  const auto begun = clock.steady();
  bool done = false;
  CHECK(cache.single_flight(
      "key", {"work", [&] { return done; }, [&](base::Observer&) { done = true; }}, observer));
  CHECK(clock.steady() - begun >= 60s);
  CHECK(clock.steady() - begun < 65s);
  CHECK(entries_in(home.root() / "claims") == 0);
  if (!readable) return;
  REQUIRE_FALSE(observer.progresses.empty());
  CHECK(observer.progresses.front().task == "work");
  CHECK(observer.progresses.front().done == 10);
  CHECK(observer.progresses.front().total == 100);
  CHECK(observer.progresses.back().finished);
  CHECK(observer.notes.front() ==
        "work: process 99 on node17 (job 4711) does this already; waiting");
}

TEST_CASE("single flight: a holder that gives signs of life is waited for") {
  CacheHome home;
  /// Rewrites the claim at each sleep for a while.
  class BeatingClock final : public base::Clock {
   public:
    explicit BeatingClock(const CacheHome& home) : home_(home) {}
    base::WallTime now() const override { return clock_.now(); }
    base::SteadyTime steady() const override { return clock_.steady(); }
    void sleep_for(std::chrono::nanoseconds duration) override {
      clock_.sleep_for(duration);
      auto record = stranger();
      record.beat = ++beats;
      if (beats < 500) put_claim(home_, "key", cache::claim_text(record));
      if (beats == 500) fs::remove(cache::Layout(home_.root()).claim("key"));
    }
    int beats = 0;

   private:
    const CacheHome& home_;
    test::FakeClock clock_{};
  };
  BeatingClock clock(home);
  put_claim(home, "key", cache::claim_text(stranger()));
  auto cache = open_with(home, clock);
  base::SilentObserver observer;
  CHECK_FALSE(cache.single_flight("key",
                                  {"work",
                                   [&] { return clock.beats >= 500; },
                                   [&](base::Observer&) { FAIL("it was done twice"); }},
                                  observer));
}

TEST_CASE("single flight: a wait can be stopped") {
  CacheHome home;
  auto cache = home.open();
  put_claim(home, "key", cache::claim_text(stranger()));
  base::SilentObserver observer;
  std::stop_source stop;
  stop.request_stop();
  const auto error = error_of([&] {
    cache.single_flight(
        "key", {"work", [] { return false; }, [](base::Observer&) {}}, observer, stop.get_token());
  });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::interrupted);
}

TEST_CASE("single flight: sixty-four processes that want one object make one download") {
  CacheHome home;
  home.open();
  const std::string text(3U << 20U, 'x');
  const auto wanted = base::sha256_of(text);
  SharedCounter downloads;
  std::vector<Child> children;
  for (int n = 0; n < 64; ++n) {
    children.emplace_back([&]() -> std::string {
      auto cache = home.open();
      base::SilentObserver observer;
      cache.single_flight(wanted.hex,
                          {"work",
                           [&] { return cache.find(wanted).has_value(); },
                           [&](base::Observer&) {
                             ++downloads;
                             auto partial = cache.open_partial(wanted.hex, {wanted});
                             partial->reserve(text.size());
                             for (std::size_t at = 0; at < text.size(); at += 65536) {
                               partial->write_at(at, as_bytes(text).subspan(at, 65536));
                               std::this_thread::sleep_for(2ms);
                             }
                             cache.publish(std::move(partial), {wanted});
                           }},
                          observer);
      return cache.find(wanted) ? "" : "not there";
    });
  }
  for (Child& child : children)
    CHECK(child.wait().empty());
  CHECK(downloads.value() == 1);
  CHECK(entries_in(home.root() / "claims") == 0);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("single flight: when the holder is killed, one who waits goes on with its bytes") {
  CacheHome home;
  home.open();
  const std::string text(4U << 20U, 'x');
  const auto wanted = base::sha256_of(text);
  SharedCounter written;
  SharedCounter adopted;
  // Goes on with what is there; at three quarters it waits for its end, where it is to die.
  const auto fetch = [&](bool dies) -> std::string {
    auto cache = home.open();
    base::SilentObserver observer;
    cache.single_flight(wanted.hex,
                        {"work",
                         [&] { return cache.find(wanted).has_value(); },
                         [&](base::Observer&) {
                           auto partial = cache.open_partial(wanted.hex, {wanted});
                           if (partial->contiguous_bytes() == 3U << 20U) {
                             ++adopted;
                           } else {
                             partial->write_at(0, as_bytes(text).first(3U << 20U));
                           }
                           ++written;
                           while (dies)
                             std::this_thread::sleep_for(1ms);
                           partial->write_at(3U << 20U, as_bytes(text).subspan(3U << 20U));
                           cache.publish(std::move(partial), {wanted});
                         }},
                        observer);
    return cache.find(wanted) ? "" : "not there";
  };
  Child holder([&] { return fetch(true); });
  while (written.value() == 0)
    std::this_thread::sleep_for(1ms);
  std::vector<Child> waiters;
  for (int n = 0; n < 4; ++n)
    waiters.emplace_back([&] { return fetch(false); });
  std::this_thread::sleep_for(100ms);
  CHECK(adopted.value() == 0);
  holder.kill();
  CHECK(holder.wait() == "killed");
  for (Child& waiter : waiters)
    CHECK(waiter.wait().empty());
  CHECK(adopted.value() == 1);
}
