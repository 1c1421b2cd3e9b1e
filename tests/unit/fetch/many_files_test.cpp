#include "conformance/fetcher_conformance.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>

using namespace sabath;
using namespace std::chrono_literals;

namespace {

/// Files in memory, with what came of them.
class MemoryList final : public fetch::FileList {
 public:
  struct File {
    fetch::Request request{};
    test::MemoryPartialFile to{};
    std::optional<fetch::Outcome> outcome{};
    bool is_open = false;
  };

  File& add(const std::string& url, const std::string& content) {
    File& file = files.emplace_back();
    file.request = {
        .urls = {url}, .size_bytes = content.size(), .digests = {base::sha256_of(content)}};
    file.to.wanted = content;
    return file;
  }
  std::size_t size() const override { return files.size(); }
  fetch::Request request(std::size_t index) override { return files[index].request; }
  base::PartialFile& open(std::size_t index) override {
    CHECK_FALSE(files[index].is_open);
    CHECK_FALSE(files[index].outcome);
    files[index].is_open = true;
    most_open = std::max(most_open, ++now_open);
    return files[index].to;
  }
  void done(std::size_t index, const fetch::Outcome& outcome) override {
    CHECK(files[index].is_open);
    CHECK_FALSE(files[index].outcome);
    files[index].outcome = outcome;
    --now_open;
  }

  std::deque<File> files{};
  int now_open = 0;
  int most_open = 0;
};

/// Tells of a thousand bytes over three connections.
class SlowFetcher final : public fetch::Fetcher {
 public:
  std::vector<std::string_view> schemes() const override { return {"slow"}; }
  std::string_view name() const override { return "slow"; }
  std::string_view description() const override { return "tells how far it is"; }
  fetch::Outcome fetch(const std::vector<std::string>& urls,
                       const fetch::Request& request,
                       base::PartialFile&,
                       base::Observer& observer,
                       std::stop_token) override {
    observer.progress(
        {.task = request.label, .done = 1000, .total = request.size_bytes, .connections = 3});
    fetch::Outcome outcome;
    outcome.ok = true;
    outcome.url = urls.front();
    return outcome;
  }
};

struct Case {
  test::WithoutProxies proxies{};
  test::FaultServer server{};
  base::SystemClock clock{};
  test::RecordingObserver observer{};
  MemoryList files{};
  fetch::RetryPolicy policy{.attempts = 3, .base = 10ms};

  MemoryList::File& add(const std::string& target, const std::string& content) {
    server.put(target, content);
    return files.add(server.url(target), content);
  }
  void fetch() {
    const auto fetchers = fetch::builtin_fetchers({}, clock);
    fetch_files(files, "all of them", fetchers, policy, clock, observer, {});
  }
};

}  // namespace

TEST_CASE("many files: each arrives, over few connections, and few are open at a time") {
  Case c;
  for (int i = 0; i < 500; ++i)
    c.add("/" + std::to_string(i), conformance::random_bytes(1000 + static_cast<std::size_t>(i)));
  c.fetch();
  for (const auto& file : c.files.files) {
    REQUIRE(file.outcome);
    CHECK(file.outcome->ok);
    CHECK((file.to.content == file.to.wanted));
  }
  CHECK(c.server.connections() <= 16);
  CHECK(c.files.most_open <= 16);
  CHECK(c.server.requests().size() == 500);
  const auto& last = c.observer.progresses.back();
  CHECK(last.task == "all of them");
  CHECK(last.finished);
  CHECK(last.done == last.total);
}

TEST_CASE("many files: one that fails is an outcome, and the others arrive") {
  Case c;
  c.add("/good", "good");
  auto& missing = c.files.add(c.server.url("/missing"), "missing");
  auto& broken = c.files.add("http://[", "broken");
  c.fetch();
  CHECK(c.files.files.front().outcome->ok);
  CHECK(missing.outcome->not_found);
  CHECK(missing.outcome->problem == c.server.url("/missing") + ": server answered 404 Not Found");
  CHECK_FALSE(broken.outcome->ok);
}

TEST_CASE("many files: a busy server is asked again, while the other files go on") {
  Case c;
  auto& busy = c.add("/busy", "busy");
  c.server.once("/busy", {.status = 503});
  test::Reply cut = c.server.whole("/busy");
  cut.cut_after_bytes = 2;
  c.server.once("/busy", cut);
  for (int i = 0; i < 20; ++i)
    c.add("/" + std::to_string(i), "file");
  c.fetch();
  CHECK(busy.outcome->ok);
  CHECK((busy.to.content == "busy"));
  for (const auto& file : c.files.files)
    CHECK(file.outcome->ok);
}

TEST_CASE("many files: wrong bytes are had from the next source") {
  Case c;
  auto& file = c.add("/wrong", "right");
  c.server.put("/wrong", "wrong");
  c.server.put("/right", "right");
  SECTION("where there is one") {
    file.request.urls.push_back(c.server.url("/right"));
    c.fetch();
    CHECK(file.outcome->ok);
    CHECK((file.to.content == "right"));
    CHECK(file.outcome->wrong_sources == std::vector<std::string>{c.server.url("/wrong")});
  }
  SECTION("else it is told") {
    c.fetch();
    CHECK_FALSE(file.outcome->ok);
    CHECK(file.outcome->wrong_bytes);
  }
}

TEST_CASE("many files: a partial of an earlier attempt is continued") {
  Case c;
  auto& file = c.add("/x", conformance::random_bytes(10'000));
  c.fetch();
  auto& again = c.files.files.emplace_back();
  again.request = file.request;
  again.to = file.to.after(4000);
  again.to.wanted = file.to.wanted;
  file.is_open = false;
  c.files.files.pop_front();
  c.fetch();
  CHECK(c.files.files.front().outcome->ok);
  CHECK(c.files.files.front().outcome->transferred == 6000);
}

TEST_CASE("many files: large ones and those of other schemes are fetched one by one") {
  Case c;
  auto& large = c.add("/large", conformance::random_bytes(9U << 20U));
  auto& small = c.add("/small", "small");
  auto& other = c.files.add("file:///etc/hostname", "?");
  other.request.size_bytes.reset();
  other.request.digests.clear();
  other.to.wanted = "of now";
  other.to.wanted.clear();
  c.fetch();
  CHECK(large.outcome->ok);
  CHECK(small.outcome->ok);
  CHECK(other.outcome->ok);
  CHECK(c.observer.progresses.back().in_bytes == false);
}

TEST_CASE("many files: the progress of a large one is told while it comes") {
  constexpr std::uint64_t large = 9U << 20U;
  base::SystemClock clock;
  test::RecordingObserver observer;
  MemoryList files;
  for (const auto* const name : {"slow://host/a", "slow://host/b"})
    files.add(name, "").request.size_bytes = large;
  const bool is_in_bytes = GENERATE(true, false);
  if (!is_in_bytes) files.add("slow://host/c", "").request.size_bytes.reset();
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers;
  fetchers.push_back(std::make_unique<SlowFetcher>());
  fetch_files(files, "all of them", fetchers, {}, clock, observer, {});
  const auto tells = [&](const std::string& task, std::uint64_t done) {
    return std::any_of(
        observer.progresses.begin(), observer.progresses.end(), [&](const auto& each) {
          return each.task == task && each.done == done && each.in_bytes && each.connections == 3;
        });
  };
  CHECK(tells("all of them", 1000) == is_in_bytes);
  CHECK(tells("all of them", large + 1000) == is_in_bytes);
  CHECK(tells("slow://host/a", 1000) != is_in_bytes);
  CHECK_FALSE(tells("slow://host/c", 1000));
  CHECK(observer.progresses.back().task == "all of them");
  CHECK(observer.progresses.back().finished);
}

TEST_CASE("many files: a host that takes no connection is given up for all of them") {
  Case c;
  c.add("/good", "good");
  const std::string nobody = "http://127.0.0.1:" + std::to_string(test::unused_port()) + "/";
  for (int i = 0; i < 40; ++i) {
    auto& file = c.files.add(nobody + std::to_string(i), "x");
    if (i % 2 == 0) continue;
    file.request.urls.push_back(c.server.url("/good"));
    file.request.digests = {base::sha256_of("good")};
    file.request.size_bytes = 4;
    file.to.wanted = "good";
  }
  c.fetch();
  CHECK(c.observer.notes.size() == 1);
  for (const auto& file : c.files.files) {
    const bool has_other = file.to.wanted == "good";
    CHECK(file.outcome->ok == has_other);
    if (has_other) continue;
    CHECK_THAT(file.outcome->problem, Catch::Contains("cannot connect: Connection refused"));
  }
}

TEST_CASE("many files: a source that still has what is here sends nothing") {
  Case c;
  auto& same = c.add("/same", "same");
  auto& other = c.add("/other", "other");
  for (auto* file : {&same, &other}) {
    const std::string target = file == &same ? "/same" : "/other";
    file->request.here = {{c.server.url(target), c.server.whole(target).headers[0].second, {}}};
  }
  c.server.put("/other", "of now");
  other.request.size_bytes.reset();
  other.request.digests.clear();
  other.to.wanted = "of now";
  c.fetch();
  CHECK(same.outcome->unchanged);
  CHECK_FALSE(same.outcome->ok);
  CHECK(same.outcome->transferred == 0);
  CHECK(same.to.content.empty());
  CHECK(other.outcome->ok);
  CHECK_FALSE(other.outcome->unchanged);
  CHECK(other.to.content == "of now");
  CHECK(c.server.requests().size() == 2);
}

TEST_CASE("many files: each source is asked for the version that it gave") {
  Case c;
  auto& file = c.files.add(c.server.url("/gone"), "text");
  c.server.put("/mirror", "text");
  file.request.urls.push_back(c.server.url("/mirror"));
  file.request.here = {{c.server.url("/mirror"), c.server.whole("/mirror").headers[0].second, {}}};
  c.fetch();
  CHECK(file.outcome->unchanged);
  CHECK(file.outcome->url == c.server.url("/mirror"));
  REQUIRE(c.server.requests().size() == 2);
  CHECK(c.server.requests()[0].header("if-none-match").empty());
}

TEST_CASE("many files: of a version is asked by what can stand in a condition") {
  struct Said {
    std::string etag;
    std::string last_modified;
    std::string if_none_match;
    std::string if_modified_since;
  };
  const std::string date = "Fri, 20 Nov 2026 10:00:00 GMT";
  const auto said = GENERATE_COPY(values<Said>({
      {R"("strong")", date, R"("strong")", ""},
      {R"(W/"weak")", date, R"(W/"weak")", ""},
      {R"("")", "", R"("")", ""},
      {"", date, "", date},
      {"bare", date, "", date},
      {R"("open)", date, "", date},
      {R"(w/"small")", date, "", date},
      {R"("a "b")", date, "", date},
      {"\"a\"\r\nX-More: 1", date, "", date},
      {"*", "", "", ""},
      {"", date + "\r\nX-More: 1", "", ""},
  }));
  Case c;
  auto& file = c.add("/x", "text");
  file.request.here = {{c.server.url("/x"), said.etag, said.last_modified}};
  c.server.once("/x", {304, {}, {}});
  c.policy.attempts = 1;
  c.fetch();
  const auto request = c.server.requests().at(0);
  CHECK(request.header("if-none-match") == said.if_none_match);
  CHECK(request.header("if-modified-since") == said.if_modified_since);
  CHECK(request.header("x-more").empty());
  // A 304 that nobody asked for is a failure.
  const bool is_asked = !said.if_none_match.empty() || !said.if_modified_since.empty();
  CHECK(file.outcome->unchanged == is_asked);
  CHECK_FALSE(file.outcome->ok);
  CHECK((file.outcome->problem.find("304") != std::string::npos) == !is_asked);
}
