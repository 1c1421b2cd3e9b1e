#include <cache/extents.hpp>
#include <catch2/catch.hpp>

using sabath::cache::Extents;

TEST_CASE("extents: bytes in order make one prefix") {
  Extents extents;
  extents.add(0, 10);
  extents.add(10, 25);
  CHECK(extents.prefix() == 25);
  CHECK(extents.end() == 25);
}

TEST_CASE("extents: what lies behind a gap counts once the gap is filled") {
  Extents extents;
  extents.add(20, 30);
  extents.add(40, 50);
  CHECK(extents.prefix() == 0);
  CHECK(extents.end() == 50);
  extents.add(0, 10);
  CHECK(extents.prefix() == 10);
  extents.add(10, 20);
  CHECK(extents.prefix() == 30);
  extents.add(30, 40);
  CHECK(extents.prefix() == 50);
}

TEST_CASE("extents: overlaps and repetitions count once") {
  Extents extents;
  extents.add(0, 10);
  extents.add(30, 40);
  extents.add(5, 35);
  CHECK(extents.prefix() == 40);
  extents.add(3, 4);
  extents.add(7, 7);
  CHECK(extents.prefix() == 40);
  extents.clear();
  CHECK(extents.prefix() == 0);
  CHECK(extents.end() == 0);
}
