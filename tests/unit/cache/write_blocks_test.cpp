#include <cache/objects/write_blocks.hpp>
#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace sabath;
using base::as_bytes;
using cache::Block;
using cache::BlockPool;
using cache::WriteBlocks;

namespace {

constexpr std::size_t full = cache::write_block_bytes;

/// What was put, in order.
struct Puts {
  struct One {
    std::uint64_t begin = 0;
    unsigned source = 0;
    std::string text{};
  };

  void operator()(Block&& block) {
    if (fails) throw std::runtime_error("full");
    all.push_back({block.begin, block.source, std::string(base::as_text(block.bytes))});
  }

  BlockPool pool{};
  std::vector<One> all{};
  bool fails = false;
};

}  // namespace

TEST_CASE("write blocks: small writes of a stream become one, up to the block's end") {
  Puts puts;
  WriteBlocks blocks(puts.pool, std::ref(puts));
  const std::string text = std::string(full - 10, 'a') + std::string(30, 'b');
  for (std::size_t at = 0; at < text.size(); at += 7)
    blocks.add(5 + at, as_bytes(text).subspan(at, std::min<std::size_t>(7, text.size() - at)), 2);
  REQUIRE(puts.all.size() == 1);
  CHECK(puts.all[0].begin == 5);
  CHECK(puts.all[0].source == 2);
  CHECK(puts.all[0].text == text.substr(0, full - 5));
  blocks.end_all();
  REQUIRE(puts.all.size() == 2);
  CHECK(puts.all[1].begin == full);
  CHECK(puts.all[1].text == text.substr(full - 5));
}

TEST_CASE("write blocks: streams are kept apart, and so are sources") {
  Puts puts;
  WriteBlocks blocks(puts.pool, std::ref(puts));
  blocks.add(0, as_bytes("ab"), 0);
  blocks.add(100, as_bytes("xy"), 0);
  blocks.add(2, as_bytes("cd"), 0);
  blocks.add(102, as_bytes("z"), 1);  // goes on, but from elsewhere
  REQUIRE(puts.all.size() == 1);
  CHECK(puts.all[0].text == "xy");
  blocks.end_at(4);
  blocks.end_at(4711);
  REQUIRE(puts.all.size() == 2);
  CHECK(puts.all[1].text == "abcd");
  blocks.end_all();
  REQUIRE(puts.all.size() == 3);
  CHECK(puts.all[2].begin == 102);
  CHECK(puts.all[2].source == 1);
}

TEST_CASE("write blocks: many streams do not take memory without end") {
  Puts puts;
  WriteBlocks blocks(puts.pool, std::ref(puts));
  for (std::uint64_t i = 0; i < 1000; ++i)
    blocks.add(i * full, as_bytes("x"), 0);
  CHECK(puts.all.size() >= 900);
  blocks.end_all();
  CHECK(puts.all.size() == 1000);
}

TEST_CASE("write blocks: what could not be put is not put later") {
  Puts puts;
  WriteBlocks blocks(puts.pool, std::ref(puts));
  blocks.add(0, as_bytes("ab"), 0);
  puts.fails = true;
  CHECK_THROWS_AS(blocks.end_all(), std::runtime_error);
  puts.fails = false;
  blocks.end_all();
  CHECK(puts.all.empty());
}
