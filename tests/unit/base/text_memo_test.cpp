#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/text_memo.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;

TEST_CASE("memo: answers are there for the next one") {
  const test::TempHome home;
  const auto file = home / "state" / "memo";
  base::TextMemo memo(file);
  CHECK_FALSE(memo.get("a"));
  memo.put("a", "1");
  CHECK(memo.get("a") == "1");
  CHECK_FALSE(std::filesystem::exists(file));
  memo.save();
  CHECK(base::TextMemo(file).get("a") == "1");
  base::TextMemo other(file);
  other.put("a", "2");
  other.save();
  CHECK(base::TextMemo(file).get("a") == "2");
}

TEST_CASE("memo: what another process wrote meanwhile is kept") {
  const test::TempHome home;
  base::TextMemo one(home / "memo");
  base::TextMemo two(home / "memo");
  CHECK_FALSE(one.get("a"));
  CHECK_FALSE(two.get("a"));
  one.put("a", "1");
  one.save();
  two.put("b", "2");
  two.save();
  base::TextMemo both(home / "memo");
  CHECK(both.get("a") == "1");
  CHECK(both.get("b") == "2");
}

TEST_CASE("memo: it does not grow without end, and the newest stay") {
  const test::TempHome home;
  for (int i = 0; i < 25; ++i) {
    base::TextMemo memo(home / "memo", 10);
    memo.put(std::to_string(i), "x");
    memo.save();
  }
  base::TextMemo memo(home / "memo", 10);
  CHECK(memo.get("24"));
  CHECK_FALSE(memo.get("0"));
  CHECK(base::read_file(home / "memo").size() <= 10 * 5);
}

TEST_CASE("memo: torn lines, files of others and lines within an answer are not believed") {
  const test::TempHome home;
  base::write_file_atomically(home / "memo", "a\t1\nno tab\nb\t2", base::Durability::durable, 0600);
  base::TextMemo memo(home / "memo");
  CHECK(memo.get("a") == "1");
  CHECK_FALSE(memo.get("b"));
  memo.put("c", "two\nlines");
  CHECK_FALSE(memo.get("c"));
  std::filesystem::permissions(home / "memo", std::filesystem::perms::all);
  CHECK_FALSE(base::TextMemo(home / "memo").get("a"));
}
