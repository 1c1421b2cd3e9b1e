#include <cache/objects/extents.hpp>
#include <catch2/catch.hpp>

#include <random>

using sabath::base::ByteRange;
using sabath::base::SourcedRange;
using sabath::cache::Extents;

TEST_CASE("extents: bytes in order make one prefix") {
  Extents extents;
  extents.add({0, 10}, 0);
  extents.add({10, 25}, 0);
  CHECK(extents.prefix() == 25);
  CHECK(extents.end() == 25);
  CHECK(extents.list() == std::vector<SourcedRange>{{{0, 25}, 0}});
}

TEST_CASE("extents: what lies behind a gap counts once the gap is filled") {
  Extents extents;
  extents.add({20, 30}, 0);
  extents.add({40, 50}, 0);
  CHECK(extents.prefix() == 0);
  CHECK(extents.end() == 50);
  extents.add({0, 10}, 1);
  CHECK(extents.prefix() == 10);
  extents.add({10, 20}, 0);
  CHECK(extents.prefix() == 30);
  extents.add({30, 40}, 0);
  CHECK(extents.prefix() == 50);
  CHECK(extents.bytes() == 50);
  CHECK(extents.list() == std::vector<SourcedRange>{{{0, 10}, 1}, {{10, 50}, 0}});
}

TEST_CASE("extents: overlaps and repetitions count once, for the source that was last") {
  Extents extents;
  extents.add({0, 10}, 0);
  extents.add({30, 40}, 0);
  extents.add({5, 35}, 1);
  CHECK(extents.prefix() == 40);
  CHECK(extents.bytes() == 40);
  CHECK(extents.list() == std::vector<SourcedRange>{{{0, 5}, 0}, {{5, 35}, 1}, {{35, 40}, 0}});
  extents.add({7, 7}, 0);
  CHECK(extents.prefix() == 40);
  extents.clear();
  CHECK(extents.prefix() == 0);
  CHECK(extents.end() == 0);
}

TEST_CASE("extents: what is removed is a gap again") {
  Extents extents;
  extents.add({0, 100}, 0);
  extents.remove({20, 30});
  CHECK(extents.prefix() == 20);
  CHECK(extents.bytes() == 90);
  CHECK_FALSE(extents.touches({20, 30}));
  CHECK(extents.touches({19, 20}));
  CHECK(extents.touches({29, 31}));
  extents.remove({0, 1});
  CHECK(extents.prefix() == 0);
  CHECK(extents.end() == 100);
}

TEST_CASE("extents: agree with a byte for byte account whatever is added and removed") {
  std::mt19937 random(1);
  std::vector<int> account(64, -1);
  Extents extents;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t begin = random() % account.size();
    const std::uint64_t end = begin + random() % (account.size() - begin + 1);
    const bool removes = random() % 3 == 0;
    const auto source = static_cast<unsigned>(random() % 3);
    if (removes) {
      extents.remove({begin, end});
    } else {
      extents.add({begin, end}, source);
    }
    for (std::uint64_t i = begin; i < end; ++i)
      account[i] = removes ? -1 : static_cast<int>(source);
    std::vector<SourcedRange> expected;
    for (std::uint64_t i = 0; i < account.size(); ++i) {
      if (account[i] < 0) continue;
      const auto by = static_cast<unsigned>(account[i]);
      if (!expected.empty() && expected.back().range.end == i && expected.back().source == by) {
        ++expected.back().range.end;
      } else {
        expected.push_back({{i, i + 1}, by});
      }
    }
    REQUIRE(extents.list() == expected);
    const auto gap = std::find(account.begin(), account.end(), -1) - account.begin();
    REQUIRE(extents.prefix() == static_cast<std::uint64_t>(gap));
  }
}
