// What a hub answers that it should not.
#include "support/errors.hpp"
#include "support/memory_partial_file.hpp"
#include "support/recording_observer.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/fetch/resolvers.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using test::FaultServer;

namespace {

const std::string commit(40, 'c');

struct Case {
  test::WithoutProxies proxies{};
  FaultServer server{};
  base::SystemClock clock{};
  fetch::EngineOptions options{};
  test::RecordingObserver observer{};
  std::unique_ptr<fetch::Fetcher> hub = std::move(
      fetch::resolving_fetchers(options, fetch::ServiceEndpoints{.hf = server.url("")}, clock)
          .front());
};

}  // namespace

TEST_CASE("hub: a listing whose pages go round in a circle is refused") {
  Case c;
  const std::string first = "/api/models/org/name/tree/" + commit + "?recursive=true";
  const auto page = [&](const std::string& next) {
    return test::Reply{200, {{"Link", "<" + c.server.url(next) + ">; rel=\"next\""}}, "[]"};
  };
  const std::string second = first + "&cursor=x";
  c.server.always(first, page(second));
  c.server.always(second, page(GENERATE(true, false) ? first : second));
  const auto error =
      test::error_of([&] { c.hub->list("hf://org/name@" + commit, std::nullopt, c.observer, {}); });
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK(c.server.requests().size() == 2);
}

TEST_CASE("hub: it is not blamed for what others left") {
  Case c;
  const std::string right(3'000'000, 'r');
  const bool gives_right = GENERATE(true, false);
  c.server.put("/org/name/resolve/" + commit + "/x", gives_right ? right : "wrong" + right);
  test::MemoryPartialFile to;
  to.wanted = right;
  const unsigned other = to.number_of({"https://other.example/x", "", ""});
  to.write_at(0, base::as_bytes(std::string(1U << 20U, 'w')), other);
  fetch::Request request;
  request.digests = {base::sha256_of(right)};
  const auto outcome =
      c.hub->fetch({"hf://org/name@" + commit + "/x"}, request, to, c.observer, {});
  CHECK(outcome.ok == gives_right);
  CHECK(outcome.wrong_bytes == !gives_right);
  CHECK((to.content == (gives_right ? right : "")));
}

TEST_CASE("hub: a branch with slashes, and a data set without an organisation") {
  Case c;
  const std::string tree = "/tree/" + commit + "?recursive=true";
  for (const std::string id : {"name", "org/name"}) {
    const std::string api = "/api/datasets/" + id;
    c.server.put(api + "/revision/refs%2Fconvert%2Fparquet", R"({"sha":")" + commit + R"("})");
    c.server.put(api + tree, R"([{"type":"file","path":"a.parquet","size":1}])");
    const auto files = c.hub->list(
        "hf://datasets/" + id + "@refs%2Fconvert%2Fparquet", std::nullopt, c.observer, {});
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == "a.parquet");
  }
  for (const char* url :
       {"hf://datasets/name@..%2F..%2Fx", "hf://datasets/o/n@%2F", "hf://datasets/o/n@a%00"})
    CHECK_THROWS_AS(c.hub->list(url, std::nullopt, c.observer, {}), base::Error);
}
