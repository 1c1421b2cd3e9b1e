#include "support/fake_clock.hpp"
#include "support/memory_partial_file.hpp"
#include "support/recording_observer.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <numeric>

using namespace sabath;
using namespace std::chrono_literals;

namespace {

/// Answers from a script, one line an attempt; remembers what was asked.
class ScriptedFetcher final : public fetch::Fetcher {
 public:
  struct Attempt {
    std::string url{};
    std::uint64_t there = 0;
  };
  struct Line {
    fetch::Outcome outcome{};
    std::string bytes{};
  };

  std::vector<std::string_view> schemes() const override { return {"http"}; }
  std::string_view name() const override { return "scripted"; }
  std::string_view description() const override { return ""; }
  fetch::Outcome fetch(const std::vector<std::string>& urls,
                       const fetch::Request&,
                       base::PartialFile& to,
                       base::Observer&,
                       std::stop_token) override {
    const std::string& url = urls.front();
    attempts.push_back({url, to.contiguous_bytes()});
    auto& lines = script[url];
    if (lines.empty()) throw std::logic_error("asked once too often: " + url);
    const Line line = lines.front();
    lines.pop_front();
    if (!line.bytes.empty()) to.write_at(to.contiguous_bytes(), base::as_bytes(line.bytes));
    fetch::Outcome outcome = line.outcome;
    outcome.url = url;
    outcome.effective_url = url;
    return outcome;
  }

  std::map<std::string, std::deque<Line>> script{};
  std::vector<Attempt> attempts{};
};

const fetch::Outcome success{.ok = true, .transferred = 10};
const fetch::Outcome busy{
    .transferred = 1, .etag = "\"a\"", .problem = "server is busy", .retryable = true};
const fetch::Outcome missing{.problem = "no such file", .hint = "look", .not_found = true};

struct Case {
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers{};
  ScriptedFetcher* fetcher = nullptr;
  test::FakeClock clock{};
  test::RecordingObserver observer{};
  test::MemoryPartialFile to{};
  std::stop_source stop{};

  Case() {
    auto scripted = std::make_unique<ScriptedFetcher>();
    fetcher = scripted.get();
    fetchers.push_back(std::move(scripted));
  }
  fetch::Outcome fetch(const fetch::Request& request, const fetch::RetryPolicy& policy = {}) {
    return fetch_file(request, fetchers, to, policy, clock, observer, stop.get_token());
  }
  std::chrono::nanoseconds slept() const {
    return std::accumulate(clock.sleeps.begin(), clock.sleeps.end(), 0ns);
  }
};

}  // namespace

TEST_CASE("fetch: a source that is busy is asked again, with growing pauses") {
  Case c;
  c.fetcher->script["http://a/x"] = {{busy}, {busy}, {success}};
  const auto outcome = c.fetch({.urls = {"http://a/x"}});
  CHECK(outcome.ok);
  CHECK(outcome.transferred == 12);
  CHECK(c.fetcher->attempts.size() == 3);
  CHECK(c.slept() <= 1500ms);
  REQUIRE(c.observer.notes.size() == 2);
  CHECK_THAT(c.observer.notes[0], Catch::StartsWith("http://a/x: server is busy; trying again"));
}

TEST_CASE("fetch: Retry-After is a floor for the pause") {
  Case c;
  auto throttled = busy;
  throttled.retry_after = 7s;
  c.fetcher->script["http://a/x"] = {{throttled}, {success}};
  CHECK(c.fetch({.urls = {"http://a/x"}}).ok);
  CHECK(c.slept() >= 7s);
  CHECK(c.slept() <= 7500ms);
}

TEST_CASE("fetch: a server that wants to be left alone for hours is left alone") {
  Case c;
  auto throttled = busy;
  throttled.retry_after = 5h;
  c.fetcher->script["http://a/x"] = {{throttled}};
  c.fetcher->script["http://b/x"] = {{success}};
  CHECK(c.fetch({.urls = {"http://a/x", "http://b/x"}}).ok);
  CHECK(c.slept() == 0ns);
}

TEST_CASE("fetch: attempts have an end, and the outcome says why") {
  Case c;
  c.fetcher->script["http://a/x"] = {{busy}, {busy}, {busy}};
  const auto outcome = c.fetch({.urls = {"http://a/x"}}, {.attempts = 3});
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.problem == "http://a/x: server is busy");
  CHECK(outcome.retryable);
  CHECK(c.fetcher->attempts.size() == 3);
}

TEST_CASE("fetch: an attempt that brought much does not count against the source") {
  Case c;
  const ScriptedFetcher::Line step{busy, std::string(2U << 20U, 'x')};
  auto& lines = c.fetcher->script["http://a/x"];
  lines.assign(8, step);
  lines.push_back({success});
  CHECK(c.fetch({.urls = {"http://a/x"}}, {.attempts = 2}).ok);
  CHECK(c.fetcher->attempts.size() == 9);
}

TEST_CASE("fetch: mirrors are tried in order, and every failure is told") {
  Case c;
  c.fetcher->script["http://a/x"] = {{missing}};
  c.fetcher->script["http://me:secret@b/x?sig=secret"] = {{missing}};
  const auto outcome =
      c.fetch({.urls = {"http://a/x", "s3://c/x", "http://me:secret@b/x?sig=secret"}});
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.not_found);
  CHECK_THAT(outcome.problem,
             Catch::StartsWith("http://a/x: no such file; s3://c/x: unknown scheme 's3'; "
                               "http://b/x: no such file"));
  CHECK(outcome.problem.find("secret@") == std::string::npos);
  CHECK(outcome.hint == "look");
}

TEST_CASE("fetch: a file that no source has is not found") {
  Case c;
  c.fetcher->script["http://a/x"] = {{missing}};
  c.fetcher->script["http://b/x"] = {{missing}};
  CHECK(c.fetch({.urls = {"http://a/x", "http://b/x"}}).not_found);
}

TEST_CASE("fetch: what is no URL is told, with the schemes that are known") {
  Case c;
  const auto outcome = c.fetch({.urls = {"/data/x.tar"}});
  CHECK(outcome.problem == "/data/x.tar: is not a URL");
  CHECK_THAT(outcome.hint, Catch::Contains("known are http"));
  CHECK(c.fetch({}).problem == "no source is given");
}

TEST_CASE("fetch: a stop ends the pause between attempts") {
  Case c;
  c.fetcher->script["http://a/x"] = {{busy}};
  struct StopAtNote final : base::Observer {
    std::stop_source& stop;
    explicit StopAtNote(std::stop_source& source) : stop(source) {}
    void note(std::string_view) override { stop.request_stop(); }
    void warn(std::string_view, std::string_view) override {}
    void progress(const base::Progress&) override {}
  } observer(c.stop);
  try {
    fetch_file(
        {.urls = {"http://a/x"}}, c.fetchers, c.to, {}, c.clock, observer, c.stop.get_token());
    FAIL("nothing was thrown");
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::interrupted);
  }
  CHECK(c.slept() == 0ns);
}

TEST_CASE("fetch: progress ends whatever comes of it") {
  Case c;
  c.fetcher->script["http://a/x"] = {{missing}};
  static_cast<void>(c.fetch({.urls = {"http://a/x"}}));
  REQUIRE(c.observer.progresses.size() == 1);
  CHECK(c.observer.progresses[0].finished);
  CHECK(c.observer.progresses[0].task == "http://a/x");
}
