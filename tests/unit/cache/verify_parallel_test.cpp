// Many objects and trees at once: each kind of damage is found, whoever looks.
#include "cache_home.hpp"
#include "support/recording_observer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <set>

using namespace sabath;
using test::CacheHome;
using test::overwrite;
using test::put;

namespace fs = std::filesystem;

namespace {

struct Filled {
  std::vector<cache::Object> objects{};
  cache::Tree tree{};
  std::uint64_t bytes = 0;
};

/// Sizes from nothing to some MiB.
Filled fill(cache::Cache& cache) {
  Filled filled;
  std::map<std::string, cache::Object> files;
  for (int i = 0; i < 40; ++i) {
    std::string content = "object " + std::to_string(i);
    content.resize(static_cast<std::size_t>(i) * i * 2000U + (i == 0 ? 0U : content.size()), 'x');
    filled.objects.push_back(put(cache, content));
    filled.bytes += content.size();
    if (i % 4 == 0) files.emplace("f/" + std::to_string(i), filled.objects.back());
  }
  filled.tree = cache.publish_tree(files);
  return filled;
}

std::set<fs::path> damaged_paths(const cache::VerifyReport& report) {
  std::set<fs::path> paths;
  for (const cache::VerifyFinding& finding : report.damaged)
    paths.insert(finding.path);
  return paths;
}

}  // namespace

TEST_CASE("verify: a second look at many objects reads nothing, `full` reads all") {
  CacheHome home;
  Filled filled;
  {
    auto cache = home.open();
    filled = fill(cache);
  }
  base::SilentObserver observer;
  auto stranger = home.open_as_stranger();
  const auto first = stranger.verify(false, observer);
  CHECK(first.objects == filled.objects.size());
  CHECK(first.trees == 1);
  // A link of a tree to an object that was just read is not read again.
  CHECK(first.bytes_hashed >= filled.bytes);
  if (fs::is_symlink(filled.tree.path / "f/4")) CHECK(first.bytes_hashed == filled.bytes);
  CHECK(first.size_bytes == filled.bytes + filled.tree.size_bytes);
  CHECK(stranger.verify(false, observer).bytes_hashed == 0);
  CHECK(stranger.verify(true, observer).bytes_hashed == first.bytes_hashed);
  CHECK(stranger.verify(false, observer).damaged.empty());
}

TEST_CASE("verify: each kind of damage among many objects is found", "[long]") {
  CacheHome home;
  auto cache = home.open();
  const Filled filled = fill(cache);
  std::set<fs::path> expected;
  const auto damage = [&](std::size_t i, const std::function<void(const fs::path&)>& how) {
    how(filled.objects.at(i).path);
    expected.insert(filled.objects.at(i).path);
  };
  damage(39, [](const fs::path& path) {
    const auto size = fs::file_size(path);
    ::chmod(path.c_str(), 0644);
    fs::resize_file(path, size - 1);
    fs::resize_file(path, size);  // its last byte is 0 now
  });
  damage(38, [](const fs::path& path) { overwrite(path, "short"); });
  damage(37, [](const fs::path& path) { overwrite(path, ""); });
  damage(35, [](const fs::path& path) {
    fs::remove(path);
    fs::create_symlink("/etc/hostname", path);
  });
  damage(34, [](const fs::path& path) {
    fs::remove(path);
    fs::create_directory(path);
  });
  base::SilentObserver observer;
  const bool full = GENERATE(true, false);
  CHECK(damaged_paths(cache.verify(full, observer)) == expected);
  for (const auto& finding : cache.verify(full, observer).damaged)
    CHECK(finding.digest);
}

TEST_CASE("verify: each kind of damage in a tree is found", "[long]") {
  CacheHome home;
  auto cache = home.open();
  const Filled filled = fill(cache);
  const fs::path root = filled.tree.path;
  fs::path bad;
  const std::string kind =
      GENERATE("a file is missing", "a file was added", "other bytes", "its object's bytes");
  ::chmod((root / "f").c_str(), 0755);
  if (kind == "a file is missing") {
    bad = root / "f/4";
    fs::remove(bad);
  } else if (kind == "a file was added") {
    bad = root / "f/new";
    base::write_file_atomically(bad, "new");
  } else if (kind == "other bytes") {
    bad = root / "f/8";
    fs::remove(bad);
    base::write_file_atomically(bad, std::string(128'008, 'y'));
  } else {
    bad = root / "f/12";
    overwrite(filled.objects.at(12).path, "wrong");
  }
  INFO(kind);
  base::SilentObserver observer;
  const auto found = damaged_paths(cache.verify(GENERATE(true, false), observer));
  CHECK(found.contains(kind == "its object's bytes" ? filled.objects.at(12).path : bad));
  CHECK(found.contains(bad) == (kind != "its object's bytes" || fs::is_symlink(bad)));
}

TEST_CASE("verify: progress only ever grows, whichever thread tells it") {
  CacheHome home;
  auto cache = home.open();
  const Filled filled = fill(cache);
  test::RecordingObserver observer;
  cache.verify(true, observer);
  std::uint64_t last = 0;
  bool ended = false;
  for (const base::Progress& progress : observer.progresses) {
    if (progress.task != "verifying objects") continue;
    CHECK_FALSE(ended);
    CHECK(progress.done >= last);
    CHECK(progress.in_bytes);
    last = progress.done;
    ended = progress.finished;
  }
  CHECK(ended);
  CHECK(last == filled.bytes);
}
