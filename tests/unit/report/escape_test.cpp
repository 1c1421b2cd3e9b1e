#include "report/escape.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

using namespace sabath::report;

TEST_CASE("escape: what is not seen, or turns text around, becomes visible") {
  CHECK(plain_text("a\x1b[31m\x01z") == "a\\x1b[31m\\x01z");
  CHECK(plain_text("\xE2\x80\xAEgnp.exe") == "\\u{202e}gnp.exe");
  CHECK(plain_text("a\xE2\x80\x8Bz") == "a\\u{200b}z");
  CHECK(plain_text("\xEF\xBB\xBFx\xEF\xBF\xBF") == "\\u{feff}x\\u{ffff}");
  CHECK(plain_text("\xff\xC3") == "\\xff\\xc3");
  CHECK(plain_text("größe 中文 ✓") == "größe 中文 ✓");
}

TEST_CASE("escape: long texts are cut between characters") {
  CHECK(plain_text("ääää", 3) == "äää…");
  CHECK(plain_text("ääää", 4) == "ääää");
  CHECK(plain_text(std::string(100'000, '\xff'), 10).size() < 60);
}

TEST_CASE("escape: HTML has neither elements nor ends of attributes") {
  CHECK(markup_text("<b a='1' c=\"2\">&amp;") ==
        "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;");
}

TEST_CASE("escape: Markdown has no markup, no HTML, no links, no cells") {
  CHECK(markdown_text("a|b *c* _d_ `e` <f>") == "a\\|b \\*c\\* \\_d\\_ \\`e\\` &lt;f\\>");
  CHECK(markdown_text("https://x.org/") == "https\\://x.org/");
  CHECK(markdown_text("www.x.org, a@b") == "www\\.x.org, a\\@b");
  CHECK(markdown_text("![x](y)") == "!\\[x\\](y)");
  CHECK(markdown_text("2 runs: 1.5 (of 3)") == "2 runs: 1.5 (of 3)");
  CHECK(markdown_text("# x") == "\\# x");
  CHECK(markdown_text("- x") == "\\- x");
  CHECK(markdown_text("0.5-rc1") == "0.5-rc1");
}

TEST_CASE("escape: a field of CSV is no formula, and numbers are left alone") {
  CHECK(csv_text("plain") == "plain");
  CHECK(csv_text("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(csv_text("a\nb") == "a\\x0ab");
  CHECK(csv_text("=1+1") == "'=1+1");
  CHECK(csv_text("  @SUM(A1)") == "'  @SUM(A1)");
  CHECK(csv_text("\"=1") == "\"'\"\"=1\"");
  CHECK(csv_text("-x") == "'-x");
  CHECK(csv_text("+x") == "'+x");
  CHECK(csv_text("\xEF\xBC\x9D"
                 "1") ==
        "'\xEF\xBC\x9D"
        "1");
  CHECK(csv_text("-1.5e-3") == "-1.5e-3");
  CHECK(csv_text("-1+1") == "'-1+1");
  CHECK(csv_text("") == "");
  CHECK(csv_text(std::string("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("escape: numbers read back to the same bits") {
  for (const double value :
       {0.1, 1e23, -0.0, 1.0 / 3, 123456789012345680.0, 2.2250738585072014e-308})
    CHECK(std::bit_cast<std::uint64_t>(std::stod(exact_number(value))) ==
          std::bit_cast<std::uint64_t>(value));
  CHECK(exact_number(5e-324) == "5e-324");
  CHECK(exact_number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(exact_number(-std::numeric_limits<double>::infinity()) == "-Infinity");
}
