#include "conformance/fetcher_conformance.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>

using namespace sabath;

namespace {

/// The fetcher of the list that knows `scheme`.
fetch::Fetcher& fetcher_for(std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
                            std::string_view scheme) {
  for (auto& fetcher : fetchers) {
    for (const auto known : fetcher->schemes()) {
      if (known == scheme) return *fetcher;
    }
  }
  throw std::logic_error("no such fetcher");
}

struct FileHarness {
  static constexpr bool can_resume = true;
  static constexpr bool can_break = false;

  test::TempHome home{};
  base::SystemClock clock{};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers = fetch::builtin_fetchers({}, clock);

  fetch::Fetcher& fetcher() { return fetcher_for(fetchers, "file"); }
  std::string url(const std::string& name) const { return "file://" + (home / name).string(); }
  std::string put(const std::string& name, const std::string& content) const {
    // Names come percent-encoded; this test uses two of the characters.
    std::string decoded = name;
    for (const auto& [code, text] : {std::pair("%20", " "), std::pair("%25", "%")}) {
      for (auto at = decoded.find(code); at != std::string::npos; at = decoded.find(code, at + 1)) {
        decoded.replace(at, 3, text);
      }
    }
    base::write_file_atomically(home / decoded, content);
    return url(name);
  }
  std::string missing() const { return url("nothing/here"); }
};

fetch::Outcome fetch_local(const std::string& url, const fetch::EngineOptions& options = {}) {
  base::SystemClock clock;
  auto fetchers = fetch::builtin_fetchers(options, clock);
  test::MemoryPartialFile to;
  base::SilentObserver observer;
  auto outcome = fetcher_for(fetchers, "file").fetch({url}, {}, to, observer, {});
  CHECK(to.writes == 0);
  return outcome;
}

}  // namespace

TEST_CASE("fetch: the fetcher of local files conforms") {
  conformance::check_fetcher<FileHarness>();
}

TEST_CASE("fetch: a folder, a pipe and a device are no files") {
  const test::TempHome home;
  REQUIRE(::mkfifo((home / "pipe").c_str(), 0600) == 0);
  CHECK(fetch_local("file://" + home.path().string()).problem == "is a folder, not a file");
  CHECK(fetch_local("file://" + (home / "pipe").string()).problem == "is not a regular file");
  CHECK(fetch_local("file:///dev/zero").problem == "is not a regular file");
}

TEST_CASE("fetch: a file: source names this machine, in any of its forms") {
  CHECK_THAT(fetch_local("file://elsewhere/etc/passwd").problem, Catch::Contains("malformed URL"));
  CHECK(fetch_local("file:/nothing/here").not_found);
  CHECK(fetch_local("file://localhost/nothing/here").not_found);
}

TEST_CASE("fetch: file: sources can be forbidden") {
  const auto outcome = fetch_local("file:///etc/hostname", {.allow_file = false});
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.not_found);
  CHECK_THAT(outcome.problem, Catch::Contains("not allowed"));
}
