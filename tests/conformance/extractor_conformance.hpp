#pragma once

#include "support/stage_left.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace sabath::test {

/// What every extractor must do. `good` is a file with the values 1, 2 and 3 of `metric`, and lies
/// at `path` of a StageLeft.
inline void check_extractor(const spec::MetricSpec& metric,
                            const std::string& path,
                            const std::string& good) {
  SECTION("files that are not there are no error") {
    StageLeft left;
    const auto got = left.collect({metric});
    CHECK(got.points == 0);
    CHECK(got.bad_lines == 0);
    CHECK(got.searched.empty());
  }
  SECTION("points come in order, in the stream of the stage, and the file is named") {
    StageLeft left;
    left.file(path, good);
    const auto got = left.collect({metric});
    CHECK(left.values(metric.name) == std::vector<double>{1, 2, 3});
    CHECK(got.points == 3);
    CHECK(got.bad_lines == 0);
    CHECK(got.collected.notes.empty());
    REQUIRE(got.searched.size() == 1);
    CHECK(got.searched[0].kind == metric.from.kind);
    CHECK(got.searched[0].path == left.path() / path);
  }
  SECTION("another metric takes none of it") {
    if (metric.from.kind == spec::SourceKind::jsonl) return;
    StageLeft left;
    left.file(path, good);
    spec::MetricSpec other = metric;
    other.name = "other";
    other.from.key = "other";
    other.from.pattern = "other=(.)";
    CHECK(left.collect({other}).points == 0);
  }
  SECTION("whatever bytes there are, it ends and tells no other points") {
    for (const char fill : {'\0', '\n', '"', '\xff', '{'}) {
      StageLeft left;
      left.file(path, std::string(100'000, fill));
      CHECK(left.collect({metric}).points == 0);
    }
    for (std::size_t length = 0; length < good.size(); ++length) {
      StageLeft left;
      left.file(path, good.substr(0, length));
      CHECK(left.collect({metric}).points <= 3);
    }
  }
}

}  // namespace sabath::test
