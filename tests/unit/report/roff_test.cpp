#include <sabath/report/roff.hpp>

#include <catch2/catch.hpp>

using sabath::report::roff_of_markdown;

TEST_CASE("roff: headings, lists and tables of a page") {
  CHECK(roff_of_markdown("# Title\n\n## Part\ntext\n") == ".SH Title\n.PP\n.SS Part\ntext\n");
  CHECK(roff_of_markdown("- one\n  more\n12. twelve\n") ==
        ".IP \\(bu 3\none\nmore\n.IP 12. 3\ntwelve\n");
  CHECK(roff_of_markdown("| a | b |\n|---|---|\n| 1 | 2 |\n") == ".TP 22\na\nb\n.TP 22\n1\n2\n");
}

TEST_CASE("roff: a table of three columns has tabs, an empty cell stays a cell") {
  CHECK(roff_of_markdown("| `a` | b | .c |\n") == ".br\n\\fBa\\fR  \tb  \t\\&.c\n");
  CHECK(roff_of_markdown("| a | |\n") == ".TP 22\na\n\\&\n");
  CHECK(roff_of_markdown("| | b |\n") == ".br\n  \tb\n");
}

TEST_CASE("roff: code is printed with each character, in prose it is bold") {
  CHECK(roff_of_markdown("```json\n.dot `tick` **stars** [a](b)\n```\n") ==
        ".PP\n.nf\n.RS 4\n\\&.dot `tick` **stars** [a](b)\n.RE\n.fi\n");
  CHECK(roff_of_markdown("    'quote' a\\b\n") == ".nf\n    'quote' a\\eb\n.fi\n");
  CHECK(roff_of_markdown("use `--by` **now**\n") == "use \\fB\\-\\-by\\fR \\fBnow\\fR\n");
}

TEST_CASE("roff: nothing in prose is a command") {
  CHECK(roff_of_markdown(".so /etc/passwd\n'br\n") == "\\&.so /etc/passwd\n\\&'br\n");
  CHECK(roff_of_markdown("a\\fBb\n") == "a\\efBb\n");
}

TEST_CASE("roff: a link is its text and its target") {
  CHECK(roff_of_markdown("see [a `page`](x-y.md), [1] and [b](c\n") ==
        "see a \\fBpage\\fR (x\\-y.md), [1] and [b](c\n");
}

TEST_CASE("roff: comments and images are left out") {
  CHECK(roff_of_markdown("<!-- later -->\n![a plot](a.svg)\nend\n") == "end\n");
}
