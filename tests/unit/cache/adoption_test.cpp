#include "cache_home.hpp"
#include "support/child.hpp"
#include "support/child_process.hpp"

#include <cache/partials/partial_object_file.hpp>
#include <cache/trees/partial_tree_folder.hpp>
#include <catch2/catch.hpp>

#include <functional>
#include <random>

#include <signal.h>
#include <sys/resource.h>

using namespace sabath;
using base::as_bytes;
using base::ByteSource;
using base::DigestMatch;
using base::ErrorKind;
using base::SourcedRange;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::error_of;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;
const ByteSource first{"https://one/file", "\"a\"", ""};
const ByteSource second{"https://two/file", "\"b\"", "Fri, 20 Nov 2026 10:00:00 GMT"};

std::string text_of(std::size_t bytes) {
  std::mt19937 random(20261121);
  std::string text(bytes, '\0');
  for (char& c : text)
    c = static_cast<char>(random());
  return text;
}

base::ByteView part(const std::string& text, std::uint64_t begin, std::uint64_t end) {
  return as_bytes(text).subspan(begin, end - begin);
}

/// A process that writes something and is killed before it can clean up.
void die_after(CacheHome& home, const std::function<void(cache::PartialObject&)>& write) {
  Child child([&]() -> std::string {
    auto cache = home.open();
    const auto partial = cache.open_partial("key");
    write(*partial);
    ::raise(SIGKILL);
    return "not killed";
  });
  REQUIRE(child.wait() == "killed");
}

/// The only file of this name among the partials.
fs::path partial_file(const CacheHome& home, const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(home.root() / "partial")) {
    if (entry.path().filename() == name) return entry.path();
  }
  FAIL("there is no partial " + name);
  return {};
}

}  // namespace

TEST_CASE("cache: all that was written and given up is gone on with under the same key") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(5 * mebibyte + 1234);
  const auto wanted = base::sha256_of(text);
  {
    auto partial = cache.open_partial("key", {wanted});
    partial->reserve(text.size());
    const auto one = partial->number_of(first);
    const auto two = partial->number_of(second);
    partial->write_at(0, part(text, 0, 700), one);
    partial->write_at(3 * mebibyte + 5, part(text, 3 * mebibyte + 5, text.size()), two);
    partial->write_at(2 * mebibyte, part(text, 2 * mebibyte, 2 * mebibyte + 9), two);
  }
  CHECK(cache.open_partial("another key", {wanted})->present_bytes() == 0);
  auto partial = cache.open_partial("key", {wanted});
  CHECK(partial->sources() == std::vector<ByteSource>{first, second});
  CHECK(partial->present() == std::vector<SourcedRange>{{{0, 700}, 0},
                                                        {{2 * mebibyte, 2 * mebibyte + 9}, 1},
                                                        {{3 * mebibyte + 5, text.size()}, 1}});
  CHECK(partial->contiguous_bytes() == 700);
  partial->reserve(text.size());
  CHECK(partial->present_bytes() > 2 * mebibyte);
  partial->write_at(700, part(text, 700, 3 * mebibyte + 5), partial->number_of(first));
  CHECK(partial->matches() == DigestMatch::right);
  CHECK(cache.publish(std::move(partial), {wanted}).digest == wanted);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: a stream of unknown length is gone on with too, with or without a digest") {
  CacheHome home;
  auto cache = home.open();
  cache.open_partial("key")->write_at(0, as_bytes("first half, "));
  auto partial = cache.open_partial("key");
  REQUIRE(partial->contiguous_bytes() == 12);
  CHECK(partial->sources() == std::vector<ByteSource>{{}});
  partial->write_at(12, as_bytes("second half"));
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of("first half, second half"));
}

TEST_CASE("cache: who is killed loses the pieces that were not complete, and nothing else") {
  CacheHome home;
  const std::string text = text_of(6 * mebibyte);
  const auto wanted = base::sha256_of(text);
  die_after(home, [&](cache::PartialObject& partial) {
    partial.reserve(text.size());
    const auto one = partial.number_of(first);
    for (std::uint64_t at = 0; at < 100'000; at += 20'000) {
      partial.write_at(at, part(text, at, at + 20'000), one);
      partial.write_at(
          3 * mebibyte + at, part(text, 3 * mebibyte + at, 3 * mebibyte + at + 20'000), one);
    }
    partial.write_at(100'000, part(text, 100'000, mebibyte + 500), one);
    partial.write_at(5 * mebibyte, part(text, 5 * mebibyte, 6 * mebibyte), one);
  });
  auto cache = home.open();
  auto partial = cache.open_partial("key", {wanted});
  CHECK(partial->present() ==
        std::vector<SourcedRange>{{{0, mebibyte}, 0}, {{5 * mebibyte, 6 * mebibyte}, 0}});
  partial->write_at(mebibyte, part(text, mebibyte, 5 * mebibyte), 0);
  CHECK(cache.publish(std::move(partial), {wanted}).digest == wanted);
}

TEST_CASE("cache: what a process had sealed, but not published when it died, is adopted") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(mebibyte);
  die_after(home, [&](cache::PartialObject& partial) { partial.write_at(0, as_bytes(text)); });
  REQUIRE(::chmod(partial_file(home, "data").c_str(), 0444) == 0);
  auto partial = cache.open_partial("key");
  CHECK(partial->contiguous_bytes() == text.size());
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of(text));
}

TEST_CASE("cache: bytes that the disk lost or changed are not adopted") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(4 * mebibyte);
  {
    auto partial = cache.open_partial("key");
    partial->reserve(text.size());
    partial->write_at(0, as_bytes(text));
  }
  const fs::path data = partial_file(home, "data");
  {
    const base::UniqueFd fd(::open(data.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string hole(4096, '\0');
    REQUIRE(::pwrite(fd.get(), hole.data(), hole.size(), mebibyte + 8192) == 4096);
    REQUIRE(::ftruncate(fd.get(), 3 * mebibyte + 100) == 0);
  }
  CHECK(cache.open_partial("key")->present() ==
        std::vector<SourcedRange>{{{0, mebibyte}, 0}, {{2 * mebibyte, 3 * mebibyte}, 0}});
}

TEST_CASE("cache: without its journal a partial is nothing") {
  CacheHome home;
  auto cache = home.open();
  cache.open_partial("key")->write_at(0, as_bytes("bytes of yesterday's version"));
  SECTION("it is gone") {
    fs::remove(partial_file(home, "journal"));
  }
  SECTION("it is of another version") {
    base::write_file_atomically(partial_file(home, "journal"), "sabath journal 2\n");
  }
  CHECK(cache.open_partial("key")->present_bytes() == 0);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: nothing is taken from a process that still runs") {
  CacheHome home;
  auto cache = home.open();
  const auto wanted = base::sha256_of("first half, second half");
  auto mine = cache.open_partial("key", {wanted});
  mine->write_at(0, as_bytes("first half, "));
  Child child([&]() -> std::string {
    auto own = home.open();
    const auto present = own.open_partial("key", {wanted})->present_bytes();
    return present == 0 ? "" : "adopted " + std::to_string(present);
  });
  CHECK(child.wait().empty());
  mine->write_at(12, as_bytes("second half"));
  CHECK(cache.publish(std::move(mine), {wanted}).digest == wanted);
}

TEST_CASE("cache: a partial of a file of another size is dropped, its sources are still known") {
  CacheHome home;
  auto cache = home.open();
  {
    auto partial = cache.open_partial("key");
    partial->reserve(100);
    partial->write_at(0, as_bytes("old bytes"), partial->number_of(first));
  }
  auto partial = cache.open_partial("key");
  CHECK(partial->present_bytes() == 9);
  SECTION("another size is announced") {
    partial->reserve(99);
    CHECK(partial->present_bytes() == 0);
  }
  SECTION("it is longer than what is announced") {
    partial->reserve(8);
    CHECK(partial->present_bytes() == 0);
  }
  SECTION("it is started again") {
    partial->restart();
    CHECK(partial->sources().empty());
    partial->write_at(0, as_bytes("n"));
    partial.reset();
    partial = cache.open_partial("key");
    CHECK(partial->present_bytes() == 1);
    return;
  }
  CHECK(partial->number_of(first) == 0);
  partial->write_at(0, as_bytes("new"));
  partial.reset();
  CHECK(cache.open_partial("key")->present() == std::vector<SourcedRange>{{{0, 3}, 0}});
}

TEST_CASE("cache: bytes of another version of the same URL are dropped, those of others stay") {
  CacheHome home;
  auto cache = home.open();
  {
    auto partial = cache.open_partial("key");
    partial->write_at(0, as_bytes("abc"), partial->number_of(first));
    partial->write_at(3, as_bytes("def"), partial->number_of(second));
    partial->write_at(6, as_bytes("ghi"), partial->number_of(first));
  }
  auto partial = cache.open_partial("key");
  CHECK(partial->number_of(second) == 1);
  CHECK(partial->present_bytes() == 9);
  const ByteSource changed{first.url, "\"other\"", ""};
  CHECK(partial->number_of(changed) == 2);
  CHECK(partial->present() == std::vector<SourcedRange>{{{3, 6}, 1}});
  partial.reset();
  CHECK(cache.open_partial("key")->present() == std::vector<SourcedRange>{{{3, 6}, 1}});
}

TEST_CASE(
    "cache: wrong pieces are dropped, fetched again from elsewhere, and the digest is right") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(12 * mebibyte);
  std::string evil = text;
  evil[5 * mebibyte + 77] ^= 1;
  const auto wanted = base::sha256_of(text);
  auto partial = cache.open_partial("key", {wanted});
  partial->reserve(text.size());
  const auto good = partial->number_of(first);
  const auto bad = partial->number_of(second);
  partial->write_at(0, part(text, 0, 5 * mebibyte), good);
  partial->write_at(5 * mebibyte, part(evil, 5 * mebibyte, 7 * mebibyte), bad);
  partial->write_at(7 * mebibyte, part(text, 7 * mebibyte, 12 * mebibyte), good);
  CHECK(partial->matches() == DigestMatch::wrong);
  for (const auto& [range, source] : partial->present()) {
    if (source == bad) partial->drop(range);
  }
  CHECK(partial->matches() == DigestMatch::unknown);
  CHECK(partial->present_bytes() == 10 * mebibyte);
  partial.reset();
  partial = cache.open_partial("key", {wanted});
  CHECK(partial->present_bytes() == 10 * mebibyte);
  partial->write_at(5 * mebibyte, part(text, 5 * mebibyte, 7 * mebibyte), good);
  CHECK(partial->matches() == DigestMatch::right);
  CHECK(cache.publish(std::move(partial), {wanted}).digest == wanted);
}

TEST_CASE("cache: a piece is dropped as a whole") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  const std::string text = text_of(4 * mebibyte);
  partial->reserve(text.size());
  CHECK(partial->piece_bytes() == mebibyte);
  partial->write_at(0, as_bytes(text));
  partial->drop({mebibyte + 5, mebibyte + 6});
  CHECK(partial->present() ==
        std::vector<SourcedRange>{{{0, mebibyte}, 0}, {{2 * mebibyte, 4 * mebibyte}, 0}});
}

TEST_CASE("cache: pieces are as large as the file asks for") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  CHECK(partial->piece_bytes() == mebibyte);
  partial->reserve(2048 * mebibyte);
  CHECK(partial->piece_bytes() == mebibyte);
  partial->reserve(2048 * mebibyte + 1);
  CHECK(partial->piece_bytes() == 2 * mebibyte);
}

TEST_CASE("cache: a tool finds again what it left, control files too, and nobody else's") {
  CacheHome home;
  auto cache = home.open();
  die_after(home, [](cache::PartialObject& partial) {
    partial.write_at(0, as_bytes("the engine's bytes"));
    const auto path = partial.lend("aria2c");
    base::write_file_atomically(path, "half");
    base::write_file_atomically(path.string() + ".aria2", "control");
  });
  auto partial = cache.open_partial("key");
  CHECK_FALSE(fs::exists(partial->lend("curl")));
  const auto path = partial->lend("aria2c");
  CHECK(base::read_file(path) == "half");
  CHECK(base::read_file(path.string() + ".aria2") == "control");
  base::write_file_atomically(path, "half and half");
  CHECK(partial->matches() == DigestMatch::unknown);
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of("half and half"));
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: after a tool failed, the file is taken back by who writes again") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->write_at(0, as_bytes("abc"));
  base::write_file_atomically(partial->lend("wget"), "an error page");
  partial->write_at(3, as_bytes("def"));
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of("abcdef"));
}

TEST_CASE("cache: nothing that a borrower is called leads out of the attempt's folder") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  const std::vector<std::string> names{"../..", "/etc", "", "a/b", std::string(300, 'x')};
  for (const std::string& borrower : names) {
    const auto path = partial->lend(borrower);
    CHECK(path.lexically_relative(home.root() / "partial").begin()->string() != "..");
    CHECK(path.parent_path().parent_path().parent_path().parent_path() == home.root() / "partial");
  }
}

TEST_CASE("cache: what is taken over is read from the open folder, whatever its path leads to") {
  CacheHome home;
  const cache::Layout layout(home.root());
  const fs::path key = layout.partial("key");
  const bool is_tree = GENERATE(false, true);
  const auto leave = [&](const std::string& text) {
    auto cache = home.open();
    if (!is_tree) {
      cache.open_partial("key")->write_at(0, as_bytes(text));
      return;
    }
    const auto tree = cache.open_partial_tree("key");
    tree->open(text, {}).write_at(0, as_bytes(text));
    tree->finish(text, "");
  };
  leave("planted");
  fs::rename(key, home / "planted");
  leave("own");
  auto taken = cache::Attempt::take_orphans(layout, key, base::ProcessIdentity::current());
  REQUIRE(taken.size() == 1);
  fs::rename(key, home / "aside");
  fs::rename(home / "planted", key);
  fs::rename(fs::directory_iterator(key)->path(), taken.front().folder());
  if (is_tree) {
    const cache::PartialTreeFolder tree(layout, std::move(taken.front()));
    CHECK(tree.finished("own"));
    CHECK_FALSE(tree.finished("planted"));
  } else {
    const cache::PartialObjectFile file(home.root(), std::move(taken.front()), {});
    CHECK(file.present_bytes() == 3);
  }
}

TEST_CASE("cache: an attempt whose key cannot be noted leaves nothing") {
  CacheHome home;
  home.open();
  const cache::Layout layout(home.root());
  const int status = test::status_in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{60, 60};  // room for the mark, not for a key
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      const cache::Attempt attempt(layout, layout.partial("key"), base::ProcessIdentity::current());
      return 1;
    } catch (const base::Error&) {
      return fs::exists(layout.partial("key")) ? 2 : 0;
    }
  });
  CHECK(status == 0);
}
