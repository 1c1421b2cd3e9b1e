#include <sabath/base/text/text_table.hpp>

#include <catch2/catch.hpp>

#include <limits>

using namespace sabath::base;

TEST_CASE("text table: columns are as wide as their content, numbers stand right") {
  TextTable table({"name", ">size", "note"});
  CHECK(table.empty());
  table.add({"a", "1.5 GiB", "x"});
  table.add({"longer", "3 B", ""});
  CHECK_FALSE(table.empty());
  CHECK(table.text() ==
        "name       size  note\n"
        "a       1.5 GiB  x\n"
        "longer      3 B\n");
}

TEST_CASE("text table: without rows there is just the header") {
  CHECK(TextTable({"id", "state"}).text() == "id  state\n");
}

TEST_CASE("text table: width counts code points, not bytes") {
  TextTable table({"name", "x"});
  table.add({"Größe", "1"});
  table.add({"abcde", "2"});
  CHECK(table.text() == "name   x\nGröße  1\nabcde  2\n");
}

TEST_CASE("text table: cells from outside cannot drive the terminal") {
  TextTable table({"name"});
  table.add({"\x1b[31mred\nline"});
  CHECK(table.text() == "name\n\\x1b[31mred\\x0aline\n");
}

TEST_CASE("text table: too few cells leave the rest empty") {
  TextTable table({"a", "b"});
  table.add({"1"});
  CHECK(table.text() == "a  b\n1\n");
}

TEST_CASE("printable: text stays, control characters and invalid UTF-8 become visible") {
  CHECK(printable("plain ü € 😀 \\") == "plain ü € 😀 \\");
  CHECK(printable(std::string("\0\x7f", 2)) == "\\x00\\x7f");
  CHECK(printable("a\tb\nc") == "a\\x09b\\x0ac");
  CHECK(printable("a\tb\nc\r", true) == "a\tb\nc\\x0d");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xc3") == "\\xc3");                    // cut off
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(printable("\xc2\x9b"
                  "31m") ==
        "\\xc2\\x9b"
        "31m");  // CSI in one character
}

TEST_CASE("format_bytes: for people") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(312) == "312 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes(1024ULL * 1024 - 1) == "1.0 MiB");
  CHECK(format_bytes(3ULL << 29U) == "1.5 GiB");
  CHECK(format_bytes(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB");
}

TEST_CASE("text table: the last cell of a short row runs on and makes no column wider") {
  TextTable table({"a", ">b", "c"});
  table.add({"x", "long text of its own"});
  table.add({"y", "1", "2"});
  CHECK(table.text() ==
        "a  b  c\n"
        "x  long text of its own\n"
        "y  1  2\n");
}

TEST_CASE("nearest: a small slip finds its word, another word finds none") {
  const std::vector<std::string> words{"epochs", "learning_rate", "seed"};
  CHECK(nearest("epcohs", words) == "epochs");
  CHECK(nearest("epoch", words) == "epochs");
  CHECK(nearest("learningrate", words) == "learning_rate");
  CHECK(nearest("sed", words) == "seed");
  CHECK(nearest("threads", words).empty());
  CHECK(nearest("rnu", {"env", "run"}) == "run");
  CHECK(nearest("reprot", {"repro", "report"}) == "report");
  CHECK(nearest("okay", {"ok", "lost"}) == "ok");
  CHECK(nearest("foo", {"os", "for"}) == "for");
  CHECK(nearest("foo", {"os"}).empty());
  CHECK(nearest("x", {"y", "n"}).empty());
  CHECK(nearest("x", {}).empty());
}
