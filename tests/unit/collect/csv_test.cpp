#include <sabath/collect/csv.hpp>

#include <catch2/catch.hpp>

using namespace sabath::collect;
using Fields = std::vector<std::string>;

namespace {

std::vector<Fields> records(std::string_view text, char separator = ',') {
  std::vector<Fields> all;
  std::size_t at = 0;
  while (at < text.size())
    all.push_back(next_csv_record(text, at, separator).value());
  return all;
}

}  // namespace

TEST_CASE("csv: quotes hold separators, quotes and line ends") {
  const auto all = records("a,\"b,\"\"c\"\"\nd\",e\r\nf,,\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0] == Fields{"a", "b,\"c\"\nd", "e"});
  CHECK(all[1] == Fields{"f", "", ""});
}

TEST_CASE("csv: a last line needs no end, an open quote is no record") {
  CHECK(records("a;b", ';') == std::vector<Fields>{{"a", "b"}});
  std::size_t at = 0;
  CHECK_FALSE(next_csv_record("a,\"b\nc", at, ','));
  CHECK(at == 6);
}

TEST_CASE("csv: the header says which separator") {
  CHECK(csv_separator("a;b") == ';');
  CHECK(csv_separator("a\tb") == '\t');
  CHECK(csv_separator("a b;c,d") == ',');
  CHECK(csv_separator("alone") == ',');
}

TEST_CASE("csv: cells without blanks, absent ones, the mark of Windows") {
  CHECK(csv_cell("  x y\t\r") == "x y");
  CHECK(is_absent_cell(" "));
  CHECK(is_absent_cell("NA"));
  CHECK_FALSE(is_absent_cell("nan"));
  CHECK(without_byte_order_mark("\xEF\xBB\xBFsite") == "site");
}
