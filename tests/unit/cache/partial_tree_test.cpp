#include "cache_home.hpp"
#include "support/child.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <random>
#include <sstream>

using namespace sabath;
using base::as_bytes;
using base::ErrorKind;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::error_of;

namespace fs = std::filesystem;

namespace {

void write(cache::PartialTree& tree, const std::string& path, const std::string& text) {
  tree.open(path).write_at(0, as_bytes(text));
  tree.finish(path, "https://host/" + path);
}

/// Bytes that this process has read from files so far.
std::uint64_t bytes_read() {
  std::istringstream counters(base::read_file("/proc/self/io"));
  std::string name;
  std::uint64_t bytes = 0;
  counters >> name >> bytes;
  REQUIRE(name == "rchar:");
  return bytes;
}

void kill_after(CacheHome& home, const std::function<void(cache::PartialTree&)>& work) {
  Child child([&]() -> std::string {
    auto cache = home.open();
    const auto tree = cache.open_partial_tree("key");
    work(*tree);
    ::raise(SIGKILL);
    return "not killed";
  });
  REQUIRE(child.wait() == "killed");
}

}  // namespace

TEST_CASE("partial tree: many small files become the tree that the same objects would", "[long]") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  std::map<std::string, cache::Object> objects;
  for (int i = 0; i < 200; ++i) {
    const std::string path = "part" + std::to_string(i % 7) + "/file " + std::to_string(i);
    const std::string text(static_cast<std::size_t>(i) * 37, 'x');
    write(*partial, path, text);
    objects.emplace(path, test::put(cache, text));
  }
  const auto large = test::put(cache, "an object that stands for a large one");
  partial->add("large/one", large);
  objects.emplace("large/one", large);
  const auto tree = cache.publish(std::move(partial));
  CHECK(tree.files == 201);
  CHECK(cache.publish_tree(objects).digest == tree.digest);
  CHECK(cache.find_tree(tree.digest));
  CHECK(base::read_file(tree.path / "large/one") == "an object that stands for a large one");
  CHECK(base::read_file(tree.path / "part1/file 1") == std::string(37, 'x'));
  struct stat status {};
  REQUIRE(::stat((tree.path / "part1/file 1").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0444U);
  CHECK(home.open_as_stranger().find_tree(tree.digest));
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("partial tree: a file may arrive in parts, in any order, and be larger than expected") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  std::string text(3U << 20U, '\0');
  std::mt19937 random(5);
  for (char& c : text)
    c = static_cast<char>(random());
  const bool announced = GENERATE(true, false);
  auto& file = partial->open("a", {base::sha256_of(text)});
  if (announced) file.reserve(text.size());
  const std::size_t middle = 2'000'001;
  file.write_at(middle, as_bytes(text).subspan(middle));
  CHECK(file.matches() == base::DigestMatch::unknown);
  CHECK(file.contiguous_bytes() == 0);
  file.write_at(0, as_bytes(text).first(middle));
  CHECK(partial->finish("a").digest == base::sha256_of(text));
  auto& small = partial->open("b");
  small.write_at(3, as_bytes("def"));
  small.write_at(0, as_bytes("abc"));
  CHECK(small.contiguous_bytes() == 6);
  partial->finish("b");
  const auto tree = cache.publish(std::move(partial));
  CHECK(base::read_file(tree.path / "a") == text);
  CHECK(base::read_file(tree.path / "b") == "abcdef");
}

TEST_CASE("partial tree: wrong and incomplete files do not get in, and may be tried again") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  partial->open("a", {base::sha256_of("right")}).write_at(0, as_bytes("wrong"));
  auto error = error_of([&] { partial->finish("a"); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(std::string(error->what()).find(base::sha256_of("right").text()) != std::string::npos);
  auto& file = partial->open("a", {base::sha256_of("right")});
  file.reserve(5);
  file.write_at(0, as_bytes("rig"));
  error = error_of([&] { partial->finish("a"); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  partial->open("a").write_at(0, as_bytes("given up"));
  partial->abandon("a");
  partial->open("a", {base::sha256_of("right")}).write_at(0, as_bytes("right"));
  partial->finish("a");
  const auto tree = cache.publish(std::move(partial));
  CHECK(tree.files == 1);
  CHECK(base::read_file(tree.path / "a") == "right");
}

TEST_CASE("partial tree: paths that leave the tree, or clash, are refused") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  for (const std::string path : {"../a", "/a", "a/../b", "", "a//b"}) {
    const auto error = error_of([&] { partial->open(path); });
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::usage);
  }
  write(*partial, "a", "text");
  CHECK(error_of([&] { partial->open("a"); }));
  CHECK(error_of([&] { partial->add("a", test::put(cache, "x")); }));
}

TEST_CASE("partial tree: an interrupted list goes on where it was, by what the disk really has") {
  CacheHome home;
  auto cache = home.open();
  const bool killed = GENERATE(true, false);
  const auto work = [](cache::PartialTree& tree) {
    for (int i = 0; i < 100; ++i)
      write(tree, "f" + std::to_string(i), "content " + std::to_string(i));
    auto& half = tree.open("half");
    half.write_at(0, as_bytes(std::string(2U << 20U, 'h')));
  };
  if (killed) {
    kill_after(home, work);
  } else {
    work(*cache.open_partial_tree("key"));
  }
  for (const auto& entry : fs::recursive_directory_iterator(home.root() / "partial")) {
    if (entry.path().filename() == "f7") test::overwrite(entry.path(), "kontent 7");
  }
  auto partial = cache.open_partial_tree("key");
  CHECK(partial->finished("f8") ==
        cache::FinishedFile{9, base::sha256_of("content 8"), "https://host/f8"});
  CHECK_FALSE(partial->finished("f7"));
  CHECK_FALSE(partial->finished("half"));
  write(*partial, "f7", "content 7");
  const auto tree = cache.publish(std::move(partial));
  CHECK(tree.files == 100);
  CHECK(home.open_as_stranger().find_tree(tree.digest));
  base::SilentObserver observer;
  CHECK(cache.verify(true, observer).damaged.empty());
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("partial tree: who is killed loses only what was on its way to its place") {
  CacheHome home;
  auto cache = home.open();
  kill_after(home, [](cache::PartialTree& tree) {
    for (int i = 0; i < 100; ++i) {
      const std::string path = "f" + std::to_string(i);
      tree.open(path).write_at(0, as_bytes("content " + std::to_string(i)));
      tree.finish_soon(path);
    }
  });
  const auto partial = cache.open_partial_tree("key");
  for (int i = 0; i < 84; ++i)
    CHECK(partial->finished("f" + std::to_string(i)));
}

TEST_CASE("partial tree: what a tool brought is hashed as it is, and goes on after a kill") {
  CacheHome home;
  auto cache = home.open();
  kill_after(home, [](cache::PartialTree& tree) {
    const auto folder = tree.lend("rsync");
    base::make_directories(folder / "sub");
    base::write_file_atomically(folder / "sub/a", "first");
  });
  auto partial = cache.open_partial_tree("key");
  CHECK(entries_in(partial->lend("git")) == 0);
  const auto folder = partial->lend("rsync");
  CHECK(base::read_file(folder / "sub/a") == "first");
  base::write_file_atomically(folder / "run.sh", "#!/bin/sh", base::Durability::durable, 0755);
  fs::create_symlink("../run.sh", folder / "sub/link");
  const auto tree = cache.publish(std::move(partial));
  CHECK(tree.files == 3);
  CHECK(base::read_file(tree.path / "sub/link") == "#!/bin/sh");
  CHECK(home.open_as_stranger().find_tree(tree.digest));
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("partial tree: links that leave what a tool brought, and pipes, are refused") {
  CacheHome home;
  auto cache = home.open();
  const std::string target =
      GENERATE("/etc/passwd", "../../x", "../x", "sub/../../x", "a/../b", "pipe");
  auto partial = cache.open_partial_tree("key");
  const auto folder = partial->lend("rsync");
  if (target == "pipe") {
    REQUIRE(::mkfifo((folder / "link").c_str(), 0600) == 0);
  } else {
    fs::create_symlink(target, folder / "link");
  }
  const auto error = error_of([&] { cache.publish(std::move(partial)); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(entries_in(home.root() / "trees") == 0);
}

TEST_CASE("partial tree: a tool may bring a single file of it") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial_tree("key");
  auto& file = partial->open("a/b", {base::sha256_of("brought")});
  base::write_file_atomically(file.lend("curl"), "brought");
  CHECK(partial->finish("a/b").size_bytes == 7);
  CHECK(base::read_file(cache.publish(std::move(partial)).path / "a/b") == "brought");
}

TEST_CASE("partial tree: a file that comes in order is hashed as it comes and not read again") {
  CacheHome home;
  auto cache = home.open();
  const std::string text(3U << 20U, 'x');
  const auto digest = base::sha256_of(text);
  const auto tree = cache.open_partial_tree("key");
  auto& file = tree->open("file", {digest});
  for (std::size_t begin = 0; begin < text.size(); begin += 1U << 19U)
    file.write_at(begin, as_bytes(text).subspan(begin, 1U << 19U));
  const std::uint64_t before = bytes_read();
  CHECK(file.matches() == base::DigestMatch::right);
  CHECK(tree->finish("file").digest == digest);
  CHECK(bytes_read() - before < text.size());
}

TEST_CASE(
    "partial tree: bytes that come out of order or once more are hashed as they are in the end") {
  CacheHome home;
  auto cache = home.open();
  const auto tree = cache.open_partial_tree("key");
  const std::size_t half = GENERATE(3U, 2U << 20U);
  const std::string text = std::string(half, 'a') + std::string(half, 'b');
  auto& file = tree->open("file", {base::sha256_of(text)});
  const auto put = [&](std::size_t offset, char letter) {
    file.write_at(offset, as_bytes(std::string(half, letter)));
  };
  SECTION("the end first") {
    put(half, 'b');
    put(0, 'a');
  }
  SECTION("the beginning twice") {
    put(0, 'x');
    put(half, 'b');
    CHECK(file.matches() == base::DigestMatch::wrong);
    put(0, 'a');
  }
  SECTION("begun again") {
    put(0, 'x');
    file.restart();
    put(0, 'a');
    put(half, 'b');
  }
  SECTION("of another version") {
    file.write_at(0, as_bytes(std::string(half, 'x')), file.number_of({"https://host/x", "1", {}}));
    const unsigned number = file.number_of({"https://host/x", "2", {}});
    file.write_at(0, as_bytes(std::string(half, 'a')), number);
    file.write_at(half, as_bytes(std::string(half, 'b')), number);
  }
  CHECK(file.matches() == base::DigestMatch::right);
  CHECK(tree->finish("file").digest == base::sha256_of(text));
}

TEST_CASE("partial tree: a file that is finished can be abandoned and written anew") {
  CacheHome home;
  auto cache = home.open();
  {
    const auto tree = cache.open_partial_tree("key");
    write(*tree, "a", "old");
    write(*tree, "b", "kept");
  }
  auto tree = cache.open_partial_tree("key");
  REQUIRE(tree->finished("a"));
  tree->abandon("a");
  CHECK_FALSE(tree->finished("a"));
  tree.reset();
  tree = cache.open_partial_tree("key");
  CHECK_FALSE(tree->finished("a"));
  CHECK(tree->finished("b"));
  write(*tree, "a", "new");
  CHECK(base::read_file(cache.publish(std::move(tree)).path / "a") == "new");
}
