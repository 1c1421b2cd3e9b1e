#pragma once

// What any fetcher that runs a program must do. A new one instantiates check_tool<Harness>() in one
// TEST_CASE, with a harness of its own:
//
//   struct Harness {
//     static constexpr bool resumes;   // goes on with a partial, at least where a digest is there
//     fetch::Fetcher& fetcher();
//     std::string put(const std::string& name, const std::string& content);  // the file's URL;
//         // a file of the same name is replaced; the name is percent-encoded
//     std::string missing();           // the URL of no file
//   };

#include "conformance/fetcher_conformance.hpp"
#include "support/lent_file.hpp"

namespace sabath::conformance {

template <class Harness>
struct ToolCase {
  Harness harness{};
  fetch::Request request{};
  test::RecordingObserver observer{};
  std::stop_source stop{};
  test::LentFile to{};

  fetch::Outcome fetch(const std::string& url) {
    auto outcome = harness.fetcher().fetch({url}, request, to, observer, stop.get_token());
    INFO(outcome.problem);
    CHECK(outcome.ok == outcome.problem.empty());
    UNSCOPED_INFO(outcome.problem);
    return outcome;
  }
};

template <class Harness>
void check_tool_brings_files() {
  ToolCase<Harness> c;
  SECTION("a small file arrives, and the outcome tells of it") {
    const auto outcome = c.fetch(c.harness.put("small.bin", "hello, world"));
    CHECK(outcome.ok);
    CHECK(outcome.bytes == 12);
    CHECK((c.to.text() == "hello, world"));
  }
  SECTION("an empty file is a file") {
    CHECK(c.fetch(c.harness.put("empty.bin", "")).ok);
    CHECK(c.to.text().empty());
  }
  SECTION("five million bytes arrive as they are, with progress up to the end") {
    const auto content = random_bytes(5'000'000);
    c.request.size_bytes = content.size();
    c.request.label = "big.bin";
    const auto outcome = c.fetch(c.harness.put("big.bin", content));
    CHECK(outcome.ok);
    CHECK(base::sha256_of(c.to.text()) == base::sha256_of(content));
    REQUIRE_FALSE(c.observer.progresses.empty());
    CHECK(c.observer.progresses.back().task == "big.bin");
    CHECK(c.observer.progresses.back().done == content.size());
    CHECK(c.observer.progresses.back().total == content.size());
  }
  SECTION("blanks and percent signs in names are encoded and decoded") {
    CHECK(c.fetch(c.harness.put("100%25%20sure.bin", "yes")).ok);
    CHECK((c.to.text() == "yes"));
  }
}

template <class Harness>
void check_tool_partials() {
  ToolCase<Harness> c;
  const auto content = random_bytes(300'000);
  const auto url = c.harness.put("partial.bin", content);
  REQUIRE(c.fetch(url).ok);
  c.to.cut(100'000);
  SECTION("a partial becomes the whole, and where the tool can it is gone on with") {
    c.request.digests = {base::sha256_of(content)};
    const auto outcome = c.fetch(url);
    CHECK(outcome.ok);
    CHECK((c.to.text() == content));
    CHECK(outcome.transferred == (Harness::resumes ? 200'000 : 300'000));
  }
  SECTION(
      "a file that changed, with the same size too, is not mixed where nothing would prove it") {
    const auto changed = random_bytes(300'000, 2);
    CHECK(c.fetch(c.harness.put("partial.bin", changed)).ok);
    CHECK((c.to.text() == changed));
  }
  SECTION("a file that became shorter than the partial is read anew") {
    c.request.size_bytes = 9;
    CHECK(c.fetch(c.harness.put("partial.bin", "short now")).ok);
    CHECK((c.to.text() == "short now"));
  }
}

template <class Harness>
void check_tool_refusals() {
  ToolCase<Harness> c;
  SECTION("a missing file is not found, and not asked for again") {
    const auto outcome = c.fetch(c.harness.missing());
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.not_found);
    CHECK_FALSE(outcome.retryable);
    CHECK_FALSE(outcome.hint.empty());
  }
  SECTION("a file of another size than the document says is refused") {
    c.request.size_bytes = 100;
    const auto outcome = c.fetch(c.harness.put("large.bin", std::string(5000, 'x')));
    CHECK_FALSE(outcome.ok);
    CHECK_FALSE(outcome.retryable);
    CHECK_THAT(outcome.problem, Catch::Contains("left 5000 bytes where 100 are expected"));
  }
  SECTION("a stop ends it") {
    c.stop.request_stop();
    const auto url = c.harness.put("large.bin", "x");
    try {
      c.fetch(url);
      FAIL("nothing was thrown");
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::interrupted);
    }
  }
  SECTION("what could be an option or another line is refused") {
    const std::string scheme(c.harness.fetcher().schemes().front());
    for (const char* rest : {"://-oProxyCommand=x/f", "://host/a%0Ab", "://host/a%00b"}) {
      const auto outcome = c.fetch(scheme + rest);
      CHECK_FALSE(outcome.ok);
      CHECK_THAT(outcome.problem, Catch::Contains("malformed URL"));
    }
  }
}

template <class Harness>
void check_tool() {
  SECTION("files") {
    check_tool_brings_files<Harness>();
  }
  SECTION("partials") {
    check_tool_partials<Harness>();
  }
  SECTION("refusals") {
    check_tool_refusals<Harness>();
  }
}

}  // namespace sabath::conformance
