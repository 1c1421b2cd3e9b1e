#pragma once

// What any Fetcher must do, whatever moves its bytes. A new fetcher instantiates
// check_fetcher<Harness>() in one TEST_CASE, with a harness of its own:
//
//   struct Harness {
//     static constexpr bool can_resume;  // else a partial is read again from the start
//     static constexpr bool can_break;   // cut_once and fail_once do something
//     fetch::Fetcher& fetcher();
//     std::string put(const std::string& name, const std::string& content);  // the file's URL;
//         // a file of the same name is replaced by a new version; the name is percent-encoded
//     std::string missing();                 // the URL of no file
//     void cut_once(std::size_t bytes);      // the next transfer ends after so many bytes
//     void fail_once();                      // the next request fails in a way that passes
//   };

#include "support/fake_clock.hpp"
#include "support/memory_partial_file.hpp"
#include "support/recording_observer.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <random>
#include <stop_token>
#include <string>

namespace sabath::conformance {

inline std::string random_bytes(std::size_t size, unsigned seed = 1) {
  std::minstd_rand random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random() >> 8U);
  return bytes;
}

/// Lends a harness's fetcher to the list that fetch_file wants.
class BorrowedFetcher final : public fetch::Fetcher {
 public:
  explicit BorrowedFetcher(fetch::Fetcher& fetcher) : fetcher_(fetcher) {}
  std::vector<std::string_view> schemes() const override { return fetcher_.schemes(); }
  std::string_view name() const override { return fetcher_.name(); }
  std::string_view description() const override { return fetcher_.description(); }
  fetch::Outcome fetch(const std::vector<std::string>& urls,
                       const fetch::Request& request,
                       base::PartialFile& to,
                       base::Observer& observer,
                       std::stop_token stop) override {
    return fetcher_.fetch(urls, request, to, observer, stop);
  }

 private:
  fetch::Fetcher& fetcher_;
};

/// A harness with what one case needs around it.
template <class Harness>
struct FetcherCase {
  Harness harness{};
  fetch::Request request{};
  test::RecordingObserver observer{};
  std::stop_source stop{};

  fetch::Outcome fetch(const std::string& url, base::PartialFile& to) {
    return harness.fetcher().fetch({url}, request, to, observer, stop.get_token());
  }
};

template <class Harness>
void check_whole_files() {
  FetcherCase<Harness> c;
  test::MemoryPartialFile to;

  SECTION("a small file arrives, and the outcome tells of it") {
    const auto url = c.harness.put("small.bin", "hello, world");
    const auto outcome = c.fetch(url, to);
    CHECK(outcome.ok);
    CHECK(outcome.problem.empty());
    CHECK(outcome.bytes == 12);
    CHECK(outcome.transferred == 12);
    CHECK(outcome.url == url);
    CHECK((to.content == "hello, world"));
    CHECK(to.reserved == std::vector<std::uint64_t>{12});
  }
  SECTION("an empty file is a file") {
    const auto outcome = c.fetch(c.harness.put("empty.bin", ""), to);
    CHECK(outcome.ok);
    CHECK(outcome.bytes == 0);
    CHECK(to.content.empty());
  }
  SECTION("five million bytes arrive as they are, with progress up to the end") {
    const auto content = random_bytes(5'000'000);
    c.request.size_bytes = content.size();
    c.request.label = "big.bin";
    const auto outcome = c.fetch(c.harness.put("big.bin", content), to);
    CHECK(outcome.ok);
    CHECK(base::sha256_of(to.content) == base::sha256_of(content));
    REQUIRE_FALSE(c.observer.progresses.empty());
    std::uint64_t done = 0;
    for (const auto& progress : c.observer.progresses) {
      CHECK(progress.task == "big.bin");
      CHECK(progress.done >= done);
      done = progress.done;
    }
    CHECK(done == content.size());
    CHECK(c.observer.progresses.back().total == content.size());
  }
  SECTION("blanks and percent signs in names are encoded and decoded") {
    const auto outcome = c.fetch(c.harness.put("100%25%20sure.bin", "yes"), to);
    CHECK(outcome.ok);
    CHECK((to.content == "yes"));
  }
  SECTION("the version is noted with the bytes") {
    const auto outcome = c.fetch(c.harness.put("v.bin", "version"), to);
    CHECK(outcome.ok);
    REQUIRE(to.known_sources.size() == 1);
    CHECK(to.known_sources.front().etag == outcome.etag);
    CHECK(to.known_sources.front().last_modified == outcome.last_modified);
  }
}

template <class Harness>
void check_partials() {
  FetcherCase<Harness> c;
  const auto content = random_bytes(100'000);
  const auto url = c.harness.put("partial.bin", content);
  test::MemoryPartialFile first;
  c.fetch(url, first);
  test::MemoryPartialFile to = first.after(40'000);

  SECTION("a partial of the same version is continued") {
    const auto outcome = c.fetch(url, to);
    CHECK(outcome.ok);
    CHECK(outcome.bytes == content.size());
    CHECK((to.content == content));
    CHECK(outcome.transferred == (Harness::can_resume ? 60'000 : 100'000));
    CHECK(to.restarts == (Harness::can_resume ? 0 : 1));
  }
  SECTION("a file that changed, with the same size too, is never mixed") {
    const auto changed = random_bytes(100'000, 2);
    c.harness.put("partial.bin", changed);
    const auto outcome = c.fetch(url, to);
    CHECK(outcome.ok);
    CHECK((to.content == changed));
    CHECK(to.restarts >= 1);
  }
  SECTION("a file that became shorter than the partial is read from the start") {
    c.harness.put("partial.bin", "short now");
    const auto outcome = c.fetch(url, to);
    CHECK(outcome.ok);
    CHECK((to.content == "short now"));
  }
  SECTION("a partial of which nothing is known is read from the start") {
    test::MemoryPartialFile junk(std::string(40'000, 'x'));
    const auto outcome = c.fetch(url, junk);
    CHECK(outcome.ok);
    CHECK((junk.content == content));
  }
  SECTION("a partial that is whole already is complete") {
    test::MemoryPartialFile whole = first.after(content.size());
    const auto outcome = c.fetch(url, whole);
    CHECK(outcome.ok);
    CHECK(outcome.bytes == content.size());
    CHECK((whole.content == content));
  }
}

template <class Harness>
void check_refusals() {
  FetcherCase<Harness> c;
  test::MemoryPartialFile to;

  SECTION("a missing file is not found, and not asked for again") {
    const auto outcome = c.fetch(c.harness.missing(), to);
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.not_found);
    CHECK_FALSE(outcome.retryable);
    CHECK_FALSE(outcome.problem.empty());
    CHECK_FALSE(outcome.hint.empty());
    CHECK(to.writes == 0);
  }
  SECTION("a file that is larger than the document says is refused before a byte is written") {
    c.request.size_bytes = 100;
    const auto outcome = c.fetch(c.harness.put("large.bin", std::string(5000, 'x')), to);
    CHECK_FALSE(outcome.ok);
    CHECK_FALSE(outcome.retryable);
    CHECK_THAT(outcome.problem, Catch::Contains("5000 bytes where 100 are expected"));
    CHECK(to.writes == 0);
  }
  SECTION("so is one that is smaller") {
    c.request.size_bytes = 5001;
    const auto outcome = c.fetch(c.harness.put("large.bin", std::string(5000, 'x')), to);
    CHECK_FALSE(outcome.ok);
    CHECK_THAT(outcome.problem, Catch::Contains("5000 bytes where 5001 are expected"));
    CHECK(to.writes == 0);
  }
  SECTION("a full disk is an error of storage") {
    to.full_at_bytes = 1000;
    const auto url = c.harness.put("large.bin", std::string(5000, 'x'));
    try {
      c.fetch(url, to);
      FAIL("nothing was thrown");
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::storage);
    }
  }
  SECTION("a stop ends it") {
    c.stop.request_stop();
    const auto url = c.harness.put("large.bin", std::string(5000, 'x'));
    try {
      c.fetch(url, to);
      FAIL("nothing was thrown");
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::interrupted);
    }
    CHECK(to.writes == 0);
  }
}

template <class Harness>
void check_breaks() {
  FetcherCase<Harness> c;
  const auto content = random_bytes(100'000);
  const auto url = c.harness.put("broken.bin", content);
  test::MemoryPartialFile to;

  SECTION("a transfer that breaks off keeps its bytes and says that it may be tried again") {
    c.harness.cut_once(30'000);
    const auto outcome = c.fetch(url, to);
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.retryable);
    CHECK_FALSE(outcome.not_found);
    CHECK((to.content == content.substr(0, to.content.size())));
    CHECK(c.fetch(url, to).ok);
    CHECK((to.content == content));
  }
  SECTION("a failure that passes is waited out") {
    c.harness.fail_once();
    std::vector<std::unique_ptr<fetch::Fetcher>> fetchers;
    fetchers.push_back(std::make_unique<BorrowedFetcher>(c.harness.fetcher()));
    test::FakeClock clock;
    c.request.urls = {url};
    const auto outcome = fetch_file(c.request, fetchers, to, {}, clock, c.observer, {});
    CHECK(outcome.ok);
    CHECK((to.content == content));
    CHECK(c.observer.notes.size() == 1);
  }
}

template <class Harness>
void check_fetcher() {
  SECTION("whole files") {
    check_whole_files<Harness>();
  }
  SECTION("partials") {
    check_partials<Harness>();
  }
  SECTION("refusals") {
    check_refusals<Harness>();
  }
  if constexpr (Harness::can_break) {
    SECTION("breaks") {
      check_breaks<Harness>();
    }
  }
}

}  // namespace sabath::conformance
