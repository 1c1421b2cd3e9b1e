// Disks that refuse at the wrong moment: what is there already stays for a later attempt.
#include "cache_home.hpp"
#include "support/child.hpp"

#include <cache/partials/journal_file.hpp>
#include <cache/trees/tree_writer.hpp>
#include <catch2/catch.hpp>

#include <csignal>
#include <functional>

#include <sys/resource.h>
#include <unistd.h>

using namespace sabath;
using base::as_bytes;
using base::ErrorKind;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::error_of;

namespace fs = std::filesystem;

namespace {

const std::string text = std::string(1'500'000, 'a') + std::string(1'500'000, 'b');

void write_half(cache::Cache& cache) {
  const auto partial = cache.open_partial("key");
  partial->reserve(text.size());
  partial->write_at(0, as_bytes(text).first(2U << 20U));
}

/// Runs `work` where files cannot grow beyond `bytes`: a disk that is full amidst a write.
template <class Work>
std::optional<base::Error> where_full(std::uintmax_t bytes, Work&& work) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto error = error_of(work);
  ::setrlimit(RLIMIT_FSIZE, &before);
  return error;
}

/// Uses up all descriptors but `left`.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t left) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 256;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0))
      fds_.emplace_back(fd);
    for (; left > 0 && !fds_.empty(); --left)
      fds_.pop_back();
  }

 private:
  std::vector<base::UniqueFd> fds_{};
};

std::string run(const std::function<std::string()>& work) {
  return Child(work).wait();
}

}  // namespace

TEST_CASE("cache: a partial stays where its journal cannot be written") {
  CacheHome home;
  CHECK(run([&]() -> std::string {
          auto cache = home.open();
          write_half(cache);
          if (!where_full(10, [&] { cache.open_partial("key"); })) return "nothing was refused";
          const auto there = cache.open_partial("key")->present_bytes();
          return there == 2U << 20U ? "" : std::to_string(there) + " bytes are there";
        }).empty());
}

TEST_CASE("cache: a partial stays where there are no descriptors left") {
  CacheHome home;
  auto cache = home.open();
  write_half(cache);
  {
    const auto tree = cache.open_partial_tree("key");
    tree->open("a").write_at(0, as_bytes("content"));
    tree->finish("a", "");
  }
  // The sanitizer opens a pipe when it sees a type for the first time: it must have seen this one.
  REQUIRE(error_of([] { throw base::Error(base::ErrorKind::storage, "the first"); }));
  int refused = 0;
  for (std::size_t left = 0; left < 12; ++left) {
    const std::string outcome = run([&]() -> std::string {
      const FewDescriptors few(left);
      std::string what;
      if (error_of([&] {
            if (cache.open_partial("key")->present_bytes() != 2U << 20U) what = "bytes are lost";
          })) {
        what = "refused";
      }
      if (error_of([&] {
            if (!cache.open_partial_tree("key")->finished("a")) what = "a file is lost";
          })) {
        what = "refused";
      }
      return what;
    });
    INFO(left << " descriptors");
    CHECK((outcome.empty() || outcome == "refused"));
    refused += outcome == "refused" ? 1 : 0;
    CHECK(cache.open_partial("key")->present_bytes() == 2U << 20U);
    CHECK(cache.open_partial_tree("key")->finished("a"));
  }
  CHECK(refused > 0);
}

TEST_CASE("cache: what a tool brought stays where there are no descriptors left") {
  for (std::size_t left = 0; left < 6; ++left) {
    CacheHome home;
    INFO(left << " descriptors");
    CHECK(run([&]() -> std::string {
            auto cache = home.open();
            cache.open_partial_tree("seen").reset();  // as above
            auto tree = cache.open_partial_tree("key");
            base::write_file_atomically(tree->lend("tool") / "a", "content");
            {
              const FewDescriptors few(left);
              tree.reset();
            }
            return exists(cache.open_partial_tree("key")->lend("tool") / "a") ? "" : "it is lost";
          }).empty());
  }
}

TEST_CASE("cache: a partial that cannot be read stays, and keeps nobody from beginning anew") {
  CacheHome home;
  auto cache = home.open();
  const bool is_tree = GENERATE(false, true);
  const fs::path name = GENERATE_COPY(fs::path("data"), fs::path("journal"));
  const fs::path unreadable = !is_tree ? name : name == "journal" ? "files" : "tree/folder/a";
  const auto stage = [&](std::size_t bytes) {
    if (!is_tree) {
      const auto partial = cache.open_partial("key");
      const auto there = partial->present_bytes();
      if (bytes > 0) partial->write_at(0, as_bytes(text).first(bytes));
      return there;
    }
    const auto partial = cache.open_partial_tree("key");
    const auto there = partial->finished("folder/a").value_or(cache::FinishedFile{}).size_bytes;
    if (bytes > 0) {
      partial->open("folder/a").write_at(0, as_bytes(text).first(bytes));
      partial->finish("folder/a", "");
    }
    return there;
  };
  CHECK(stage(2U << 20U) == 0);
  for (const auto& attempt : fs::recursive_directory_iterator(home.root() / "partial")) {
    if (!attempt.path().filename().string().starts_with("left.")) continue;
    const fs::path place = attempt.path() / unreadable;
    fs::rename(place, place.parent_path() / "aside");
    fs::create_directories(place / "in the way");
    break;
  }
  CHECK(stage(0) == 0);
  CHECK(stage(1000) == 0);
  CHECK(stage(0) == 1000);  // although there is less of it
  int kept = 0;
  for (const auto& file : fs::recursive_directory_iterator(home.root() / "partial"))
    kept += file.path().filename() == "aside" ? 1 : 0;
  CHECK(kept == 1);
}

TEST_CASE("cache: what a tool brought stays where it cannot be opened just now") {
  CacheHome home;
  auto cache = home.open();
  // As above: the sanitizer must have seen the types that are met on the way.
  auto refused = cache.open_partial("other");
  fs::create_symlink("nothing", refused->lend("tool"));
  REQUIRE(error_of([&] { cache.publish(std::move(refused), {}); }));
  const std::string outcome = run([&]() -> std::string {
    auto partial = cache.open_partial("key");
    base::write_file_atomically(partial->lend("tool"), text);
    const auto error = error_of([&] {
      const FewDescriptors none(0);
      cache.publish(std::move(partial), {});
    });
    return error && error->kind() == ErrorKind::storage ? "" : "nothing was refused";
  });
  CHECK(outcome == "");
  auto partial = cache.open_partial("key");
  REQUIRE(fs::is_regular_file(partial->lend("tool")));
  CHECK(cache.publish(std::move(partial), {}).size_bytes == text.size());
}

TEST_CASE("cache: what is complete and cannot be put in its place is there for the next attempt") {
  CacheHome home;
  auto cache = home.open();
  const base::Digest digest = base::sha256_of(text);
  const bool is_lent = GENERATE(false, true);
  const fs::path folder = home.root() / "objects/sha256" / digest.hex.substr(0, 2);
  fs::create_directories(folder.parent_path());
  base::write_file_atomically(folder, "in the way");
  auto partial = cache.open_partial("key", {digest});
  if (is_lent) {
    base::write_file_atomically(partial->lend("tool"), text);
  } else {
    partial->write_at(0, as_bytes(text));
  }
  const auto error = error_of([&] { cache.publish(std::move(partial), {digest}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::storage);
  fs::remove(folder);
  partial = cache.open_partial("key", {digest});
  if (is_lent) {
    const fs::path lent = partial->lend("tool");
    REQUIRE(fs::file_size(lent) == text.size());
    CHECK((fs::status(lent).permissions() & fs::perms::owner_write) != fs::perms::none);
  } else {
    CHECK(partial->matches() == base::DigestMatch::right);
  }
  CHECK(cache.publish(std::move(partial), {digest}).digest == digest);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: a tree that cannot be put in its place is there for the next attempt") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  partial->open("folder/a").write_at(0, as_bytes("content"));
  partial->finish("folder/a", "");
  fs::remove_all(home.root() / "trees");
  base::write_file_atomically(home.root() / "trees", "in the way");
  const auto error = error_of([&] { cache.publish(std::move(partial)); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::storage);
  fs::remove(home.root() / "trees");
  partial = cache.open_partial_tree("key");
  CHECK(partial->finished("folder/a"));
  const auto tree = cache.publish(std::move(partial));
  CHECK(base::read_file(tree.path / "folder/a") == "content");
}

TEST_CASE("tree journal: a line that was refused in its middle spoils none that follow") {
  CacheHome home;
  const fs::path path = home / "files";
  const cache::FinishedFile file{7, base::sha256_of("content"), "https://host/a"};
  for (std::uintmax_t more = 0; more < 90; more += 7) {
    const std::string outcome = run([&]() -> std::string {
      cache::JournalFile journal(
          base::Beneath(path.parent_path()), path, cache::tree_journal_text({{"a", file}}));
      if (!where_full(fs::file_size(path) + more, [&] {
            journal.append(cache::finished_lines({{"b", file}}));
          }))
        return "not refused";
      journal.append(cache::finished_lines({{"c", file}}));
      const auto read = cache::read_tree_journal(base::Beneath(path.parent_path()), path);
      return read.size() == 2 && read.contains("a") && read.contains("c") ? "" : "it is spoilt";
    });
    INFO(more << " bytes: " << outcome);
    CHECK(outcome.empty());
  }
}

TEST_CASE("cache: a tree of which a file could not be written is not published") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  partial->open("a").write_at(0, as_bytes("content"));
  for (const auto& entry : fs::recursive_directory_iterator(home.root() / "partial")) {
    if (entry.path().filename() == "tree") fs::create_directories(entry.path() / "a/in the way");
  }
  partial->finish_soon("a");
  const auto error = error_of([&] { cache.publish(std::move(partial)); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::storage);
  CHECK(cache.open_partial_tree("key")->finished("a") == std::nullopt);
  CHECK(entries_in(home.root() / "trees") == 0);
}
