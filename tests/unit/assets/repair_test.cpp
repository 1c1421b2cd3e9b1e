#include "support/recording_observer.hpp"
#include "unit/cache/cache_home.hpp"

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/assets/repair_cache.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

/// A host of folders in memory that remembers what it was asked for.
class BoxFetcher final : public fetch::Fetcher {
 public:
  explicit BoxFetcher(bool gives_single_files) : gives_single_files_(gives_single_files) {}

  std::vector<std::string_view> schemes() const override { return {"box"}; }
  std::string_view name() const override { return "box"; }
  std::string_view description() const override { return "files in memory"; }
  bool names_many(const std::string& url) const override {
    return !gives_single_files_ || url.ends_with('/');
  }
  bool takes_trees() const override { return true; }
  fetch::Outcome fetch(const std::vector<std::string>& urls,
                       const fetch::Request&,
                       base::PartialFile& to,
                       base::Observer&,
                       std::stop_token) override {
    return give(urls.front(), [&](const std::string& content) {
      to.write_at(0, base::as_bytes(content), to.number_of({urls.front(), {}, {}}));
    });
  }
  std::vector<fetch::ListedFile> list(const std::string& url,
                                      std::optional<std::uint64_t> limit,
                                      base::Observer&,
                                      std::stop_token) override {
    std::vector<fetch::ListedFile> listed;
    for (const auto& [path, content] : files) {
      if (!limit || listed.size() < *limit) listed.push_back({path, url + path, {}, {}});
    }
    return listed;
  }
  fetch::Outcome fetch_tree(const std::string& url,
                            const fs::path& folder,
                            base::Observer&,
                            std::stop_token) override {
    fetch::Outcome all;
    for (const auto& [path, content] : files) {
      all = give(url + path, [&, name = path](const std::string& text) {
        base::write_file_atomically(folder / name, text);
      });
    }
    return all;
  }

  std::map<std::string, std::string> files{{"a", "one"}, {"b%", "two"}, {"c", "three"}};
  std::vector<std::string> asked{};

 private:
  template <class Take>
  fetch::Outcome give(const std::string& url, const Take& take) {
    asked.push_back(url);
    fetch::Outcome outcome;
    outcome.url = outcome.effective_url = url;
    std::string path = url.substr(url.rfind('/') + 1);
    if (path.ends_with("%25")) path.resize(path.size() - 2);
    outcome.ok = files.contains(path);
    if (outcome.ok) take(files.at(path));
    return outcome;
  }

  bool gives_single_files_;
};

struct Case {
  explicit Case(bool gives_single_files = true) {
    auto fetcher = std::make_unique<BoxFetcher>(gives_single_files);
    box = fetcher.get();
    fetchers.push_back(std::move(fetcher));
  }

  assets::FetchedAsset fetch(std::optional<std::uint64_t> limit = {}) {
    assets::AssetFetcher fetcher(cache, fetchers, clock, {});
    assets::FetchOptions options;
    options.limit = limit;
    auto fetched = fetcher.fetch_url("box://host/data/", {}, options, observer, {});
    box->asked.clear();
    return fetched;
  }
  std::vector<assets::Repaired> repair() {
    const cache::CacheMaintenance maintenance(home.root(), home.memo(), clock);
    return assets::repair_cache(
        {cache, maintenance, fetchers, documents, clock, observer, {}}, {}, {});
  }

  test::CacheHome home{};
  base::SystemClock clock{};
  cache::Cache cache = home.open();
  test::RecordingObserver observer{};
  home::Documents documents{{}, {}};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers{};
  BoxFetcher* box = nullptr;
};

}  // namespace

TEST_CASE("repair: of a folder that a URL gave only the damaged file is asked for") {
  Case c;
  const auto fetched = c.fetch();
  test::overwrite(fetched.path / "b%", "TWO");
  const auto repaired = c.repair();
  REQUIRE(repaired.size() == 1);
  INFO(repaired[0].problem);
  CHECK(repaired[0].ok);
  CHECK(c.box->asked == std::vector<std::string>{"box://host/data/b%25"});
  CHECK(base::read_file(fetched.path / "b%", 100) == "two");
  CHECK(c.repair().empty());
}

TEST_CASE("repair: what its source gives only as a whole is brought again as a whole") {
  Case c(false);
  const auto fetched = c.fetch();
  test::overwrite(fetched.path / "a", "ONE");
  const auto repaired = c.repair();
  REQUIRE(repaired.size() == 1);
  CHECK(repaired[0].ok);
  CHECK(c.box->asked.size() == 3);
  CHECK(base::read_file(fetched.path / "a", 100) == "one");
}

TEST_CASE("repair: what a limit left out is not fetched") {
  Case c;
  const auto fetched = c.fetch(2);
  SECTION("where a file is damaged") {
    test::overwrite(fetched.path / "a", "ONE");
    const auto repaired = c.repair();
    REQUIRE(repaired.size() == 1);
    INFO(repaired[0].problem);
    CHECK(repaired[0].ok);
    CHECK(c.box->asked == std::vector<std::string>{"box://host/data/a"});
  }
  SECTION("where what was noted is damaged") {
    for (const base::Digest& digest : fetched.holdings) {
      const auto object = c.cache.find(digest);
      if (object) test::overwrite(object->path, "spoilt");
    }
    const auto repaired = c.repair();
    REQUIRE(repaired.size() == 2);
    for (const auto& each : repaired) {
      INFO(each.problem);
      CHECK(each.ok);
    }
    CHECK(std::count(c.box->asked.begin(), c.box->asked.end(), "box://host/data/c") == 0);
  }
}

TEST_CASE("repair: other bytes at the source are no repair") {
  Case c;
  const auto fetched = c.fetch();
  test::overwrite(fetched.path / "a", "ONE");
  c.box->files["a"] = "new";
  const auto repaired = c.repair();
  REQUIRE(repaired.size() == 1);
  CHECK_FALSE(repaired[0].ok);
  CHECK_THAT(repaired[0].problem, Catch::Contains("box://host/data/a"));
}
