#include <sabath/base/text/csv.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

using namespace sabath::base;
using Fields = std::vector<std::string>;

namespace {

struct Table {
  std::vector<Fields> records{};
  std::vector<std::uint64_t> lines{};
  std::vector<std::string> problems{};  ///< each with its line
};

/// The bytes come in two parts, the first of which has `first` of them.
Table read(std::string_view text,
           std::uint64_t longest_record = 1000,
           std::size_t first = std::string_view::npos) {
  std::string_view rest = text.substr(std::min(first, text.size()));
  text = text.substr(0, first);
  CsvReader reader([&] { return std::exchange(text, std::exchange(rest, {})); }, longest_record);
  Table table;
  for (Fields fields; reader.next(fields);) {
    if (reader.problem().empty()) {
      table.records.push_back(fields);
      table.lines.push_back(reader.line());
    } else {
      table.problems.push_back(std::to_string(reader.line()) + " " + std::string(reader.problem()));
    }
  }
  return table;
}

char separator_of(const std::string& header) {
  for (const char c : {',', ';', '\t'}) {
    if (read(header + "\n1" + c + "2").records.back().size() == 2) return c;
  }
  return '?';
}

}  // namespace

TEST_CASE("csv: quotes hold separators, quotes and line ends") {
  const Table table = read("a,\"b,\"\"c\"\"\nd\",e\r\nf,,\n\"g\r\",h,i\n");
  REQUIRE(table.records.size() == 3);
  CHECK(table.records[0] == Fields{"a", "b,\"c\"\nd", "e"});
  CHECK(table.records[1] == Fields{"f", "", ""});
  CHECK(table.records[2] == Fields{"g\r", "h", "i"});
  CHECK(table.lines == std::vector<std::uint64_t>{1, 3, 4});
}

TEST_CASE("csv: blanks before a quote are not the field's") {
  const Table table = read("\"step\", \"loss\"\n0, \"0,5\"\n1,  x\"y\n");
  REQUIRE(table.records.size() == 3);
  CHECK(table.records[0] == Fields{"step", "loss"});
  CHECK(table.records[1] == Fields{"0", "0,5"});
  CHECK(table.records[2] == Fields{"1", "  x\"y"});
}

TEST_CASE("csv: it is the same wherever the bytes are cut") {
  const std::string text = "a;b\n\"x\"\"\n;\";5\"\r\n\r\n\"y\"\r\n\"";
  const Table whole = read(text);
  REQUIRE(whole.records == std::vector<Fields>{{"a", "b"}, {"x\"\n;", "5\""}, {"y"}});
  for (std::size_t first = 3; first < text.size(); ++first) {
    const Table cut = read(text, 1000, first);
    INFO("cut at " << first);
    CHECK(cut.records == whole.records);
    CHECK(cut.lines == whole.lines);
    CHECK(cut.problems == Fields{"6 has a quote that does not end"});
  }
}

TEST_CASE("csv: a quote within a field is a character like any other") {
  const Table table = read("5\" x,A\nz,B\"\n6\" y,\"C\" d\"\n");
  REQUIRE(table.records.size() == 3);
  CHECK(table.records[0] == Fields{"5\" x", "A"});
  CHECK(table.records[1] == Fields{"z", "B\""});
  CHECK(table.records[2] == Fields{"6\" y", "C d\""});
  CHECK(table.problems.empty());
}

TEST_CASE("csv: a last line needs no end, one with an open quote is told") {
  CHECK(read("a;b").records == std::vector<Fields>{{"a", "b"}});
  CHECK(read("a;b\r").records == std::vector<Fields>{{"a", "b"}});
  const Table open = read("x,y\na,\"b\nc");
  CHECK(open.records == std::vector<Fields>{{"x", "y"}, {"c"}});
  CHECK(open.problems == Fields{"2 has a quote that does not end"});
}

TEST_CASE("csv: behind a quote that never ends each line is a record") {
  const std::string text = "x,y\n1,\"a\n2,b\n\n3,5' c\r\n4,";
  for (std::size_t first = 3; first < text.size(); ++first) {
    const Table table = read(text, 1000, first);
    INFO("cut at " << first);
    CHECK(table.records == std::vector<Fields>{{"x", "y"}, {"2", "b"}, {"3", "5' c"}, {"4", ""}});
    CHECK(table.lines == std::vector<std::uint64_t>{1, 3, 5, 6});
    CHECK(table.problems == Fields{"2 has a quote that does not end"});
  }
}

TEST_CASE("csv: a quote that does not end in time does not swallow the table") {
  std::string text = "x,y\n1,\"a\n";
  for (int i = 2; i < 40; ++i)
    text += std::to_string(i) + ",b\n";
  text += "40,\"c\nd\"\n";
  for (std::size_t first = 3; first < text.size(); ++first) {
    const Table table = read(text, 17 + first % 4, first);
    INFO("cut at " << first);
    REQUIRE(table.records.size() == 40);
    CHECK(table.records[38] == Fields{"39", "b"});
    CHECK(table.records[39] == Fields{"40", "c\nd"});
    CHECK(table.lines[39] == 41);
    CHECK(table.problems == Fields{"2 is too long"});
  }
  CHECK(read("x\n\"" + std::string(40, 'a') + "\n1\n", 20).records ==
        std::vector<Fields>{{"x"}, {"1"}});
}

TEST_CASE("csv: a record that is too long is passed by, and the next one is read") {
  const Table table = read("a,b\n" + std::string(40, 'x') + "\"\n1,2\n", 20);
  CHECK(table.records == std::vector<Fields>{{"a", "b"}, {"1", "2"}});
  CHECK(table.problems == Fields{"2 is too long"});
}

TEST_CASE("csv: lines of blanks are no records, empty fields are") {
  CHECK(read("a\n\n \t\r\n\"\"\n1\n\n").records == std::vector<Fields>{{"a"}, {""}, {"1"}});
  CHECK(read("\n\na;b\n;\n").records == std::vector<Fields>{{"a", "b"}, {"", ""}});
  CHECK(read("\n\na;b\n").lines == std::vector<std::uint64_t>{3});
}

TEST_CASE("csv: the header says which separator, but not within quotes") {
  CHECK(separator_of("a;b") == ';');
  CHECK(separator_of("a\tb") == '\t');
  CHECK(separator_of("a b;c,d") == ',');
  CHECK(separator_of("alone") == ',');
  CHECK(separator_of("g;m;\"loss, train\"") == ';');
  CHECK(separator_of("\"a,\"\"\nb\"\tc;d") == ';');
  CHECK(separator_of("\n\n\"a, b\"\tc") == '\t');
}

TEST_CASE("csv: cells without blanks, absent ones, the mark of Windows") {
  CHECK(csv_cell("  x y\t\r") == "x y");
  CHECK(is_absent_cell(" "));
  CHECK(is_absent_cell("NA"));
  CHECK_FALSE(is_absent_cell("nan"));
  CHECK(read("\xEF\xBB\xBF\"si,te\",b\n").records == std::vector<Fields>{{"si,te", "b"}});
}
