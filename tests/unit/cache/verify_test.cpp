#include "cache_home.hpp"
#include "support/recording_observer.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::CacheHome;
using test::error_of;
using test::overwrite;
using test::put;

namespace fs = std::filesystem;

TEST_CASE("verify: a sound cache has no finding, and only `full` hashes what is known") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  put(cache, "beta");
  const auto tree = cache.publish_tree({{"a.txt", object}});
  test::RecordingObserver observer;
  const auto quick = cache.verify(false, observer);
  CHECK(quick.objects == 2);
  CHECK(quick.trees == 1);
  CHECK(quick.bytes_hashed == 0);
  CHECK(quick.damaged.empty());
  const auto full = cache.verify(true, observer);
  CHECK(full.objects == 2);
  // A tree's link to an object is not read twice.
  CHECK(full.bytes_hashed == (fs::is_symlink(tree.path / "a.txt") ? 9 : 9 + 5));
  CHECK(full.damaged.empty());
}

TEST_CASE("verify: an empty cache is sound") {
  CacheHome home;
  base::SilentObserver observer;
  const auto report = home.open().verify(true, observer);
  CHECK(report.objects == 0);
  CHECK(report.damaged.empty());
}

TEST_CASE("verify: what is damaged is named and stays where it is") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  put(cache, "others");
  overwrite(object.path, "wrong bytes");
  base::SilentObserver observer;
  const auto report = cache.verify(GENERATE(true, false), observer);
  CHECK(report.objects == 2);
  REQUIRE(report.damaged.size() == 1);
  CHECK(report.damaged.front().path == object.path);
  CHECK(report.damaged.front().problem.find(base::sha256_of("wrong bytes").text()) !=
        std::string::npos);
  CHECK(fs::exists(object.path));
  const auto one = test::verify_one(cache, object.digest, false);
  CHECK(one.objects == 1);
  CHECK(one.damaged.size() == 1);
}

TEST_CASE("verify: what is found damaged does not become known as right") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  overwrite(object.path, "wrong bytes");
  base::SilentObserver observer;
  CHECK(cache.verify(true, observer).damaged.size() == 1);
  CHECK(cache.verify(false, observer).damaged.size() == 1);
}

TEST_CASE("verify: what was set aside earlier is told, and is no damage") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  overwrite(object.path, "wrong bytes");
  CHECK_FALSE(cache.find(object.digest));
  base::SilentObserver observer;
  const auto report = cache.verify(true, observer);
  CHECK(report.damaged.empty());
  REQUIRE(report.set_aside.size() == 1);
  CHECK(report.set_aside.front().filename().string().starts_with(object.digest.hex));
}

TEST_CASE("verify: strangers among objects and trees are named") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  cache.publish_tree({{"a.txt", object}});
  base::write_file_atomically(object.path.parent_path() / "README", "hello");
  base::write_file_atomically(home.root() / "trees/README", "hello");
  base::SilentObserver observer;
  const auto report = cache.verify(false, observer);
  REQUIRE(report.damaged.size() == 2);
  CHECK(report.damaged[0].path == object.path.parent_path() / "README");
  CHECK(report.damaged[1].path == home.root() / "trees/README");
}

TEST_CASE("verify: one digest that is not there is counted as nothing") {
  CacheHome home;
  const auto report = test::verify_one(home.open(), base::sha256_of("nothing"), true);
  CHECK(report.objects + report.trees == 0);
  CHECK(report.damaged.empty());
}

TEST_CASE("verify: its progress ends at the total") {
  CacheHome home;
  auto cache = home.open();
  put(cache, std::string(3U << 20U, 'x'));
  put(cache, "beta");
  test::RecordingObserver observer;
  cache.verify(GENERATE(true, false), observer);
  std::vector<base::Progress> objects;
  for (const base::Progress& progress : observer.progresses) {
    if (progress.task == "verifying objects") objects.push_back(progress);
  }
  REQUIRE(objects.size() >= 3);
  CHECK(objects.front().done == 0);
  CHECK(objects.front().total == (3U << 20U) + 4);
  CHECK(objects.back().done == (3U << 20U) + 4);
  CHECK(objects.back().finished);
}

TEST_CASE("verify: it stops when asked, in the middle of a file") {
  CacheHome home;
  auto cache = home.open();
  put(cache, std::string(4U << 20U, 'x'));
  std::stop_source source;
  class Stopping final : public base::Observer {
   public:
    explicit Stopping(std::stop_source& stop) : stop_(stop) {}
    void note(std::string_view) override {}
    void warn(std::string_view, std::string_view) override {}
    void progress(const base::Progress& progress) override {
      done = progress.done;
      if (done > 0) stop_.request_stop();
    }
    std::uint64_t done = 0;

   private:
    std::stop_source& stop_;
  } observer(source);
  const auto error = error_of([&] { cache.verify(true, observer, source.get_token()); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::interrupted);
  CHECK(observer.done < (4U << 20U));
}
