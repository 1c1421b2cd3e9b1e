#include "support/child_process.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>

#include <cache/partials/journal.hpp>
#include <cache/partials/journal_file.hpp>
#include <catch2/catch.hpp>

#include <filesystem>
#include <utility>

#include <signal.h>
#include <sys/resource.h>

using namespace sabath;
using cache::journal_text;
using cache::JournalContent;
using cache::parse_journal;

namespace {

const JournalContent example{
    5'000'000,
    {{"https://host/a b%.h5", "\"5d8c\"", "Fri, 20 Nov 2026 10:00:00 GMT"}, {}, {"-", "", "\n"}},
    {{{0, 1U << 20U}, 0, 0x0123456789abcdef}, {{1U << 20U, 2U << 20U}, 2, 0}}};

}  // namespace

TEST_CASE("journal: what was written is read again, whatever a source is called") {
  const auto read = parse_journal(journal_text(example));
  REQUIRE(read);
  CHECK(*read == example);
  CHECK(read->range_bytes() == 2U << 20U);
}

TEST_CASE("journal: a last line that is torn is ignored, wherever it was torn") {
  const std::string text = journal_text(example);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  JournalContent expected = example;
  expected.ranges.pop_back();
  for (std::size_t length = last; length < text.size(); ++length) {
    const auto read = parse_journal(text.substr(0, length));
    REQUIRE(read);
    CHECK(*read == expected);
  }
  const auto padded = parse_journal(text.substr(0, last) + std::string(100, '\0'));
  REQUIRE(padded);
  CHECK(*padded == expected);
}

TEST_CASE("journal: one that is damaged, or of another version, says nothing") {
  const std::string text = journal_text(example);
  CHECK_FALSE(parse_journal(""));
  CHECK_FALSE(parse_journal("sabath journal 2\n"));
  for (const std::string line : {"bytes 0 1",
                                 "bytes 1 1 0 0",
                                 "bytes 0 1 3 0",
                                 "bytes 0 1 0 0 0",
                                 "bytes x 1 0 0",
                                 "size",
                                 "size 1 2",
                                 "source 5 - - -",
                                 "source 3 - -",
                                 "source 3 %4 - -",
                                 "drop 1",
                                 "",
                                 "else 0 1"}) {
    INFO(line);
    CHECK_FALSE(parse_journal(text + line + "\n"));
  }
}

TEST_CASE("journal: what was dropped is not there, and what came later is") {
  const auto read =
      parse_journal(journal_text(example) + "drop 1048575 1048577\nbytes 100 200 1 ff\n");
  REQUIRE(read);
  REQUIRE(read->ranges.size() == 1);
  CHECK(read->ranges.front() == cache::RangeSum{{100, 200}, 1, 0xff});
}

TEST_CASE("journal: a line that a full disk took in part is taken back") {
  const test::TempHome home;
  const auto path = home / "journal";
  const cache::RangeSum more{{2U << 20U, 3U << 20U}, 1, 7};
  const int status = test::status_in_child([&] {
    cache::JournalFile journal(base::Beneath(home.path()), path, journal_text(example));
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = std::exchange(limit.rlim_cur, std::filesystem::file_size(path) + 5);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      journal.append(cache::range_lines({{{1U << 20U, 2U << 20U}, 0, 1}}));
      return 1;  // it was not refused
    } catch (const base::Error&) {
      limit.rlim_cur = before;
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    journal.append(cache::range_lines({more}));
    return 0;
  });
  CHECK(status == 0);
  JournalContent expected = example;
  expected.ranges.push_back(more);
  const auto read = cache::read_journal(base::Beneath(home.path()), path);
  REQUIRE(read);
  CHECK(*read == expected);
}
