#include <sabath/base/text/line_diff.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <sstream>
#include <string>
#include <vector>

using sabath::base::line_diff;
using sabath::base::LineDiff;

namespace {

std::string numbered(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i)
    text += std::to_string(i) + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// What `patch` would make of `a`: by the lines and by the numbers of each hunk.
std::string patched(const std::string& a, const std::string& diff) {
  const std::vector<std::string> old = lines_of(a);
  std::size_t at = 0;
  std::string text;
  for (const std::string& line : lines_of(diff)) {
    if (line.starts_with("@@ -")) {
      const std::size_t first = std::stoul(line.substr(4));
      const bool is_empty = line.find(",0 +") != std::string::npos;
      while (at + (is_empty ? 0 : 1) < first)
        text += old.at(at++) + "\n";
      continue;
    }
    if (line[0] != '+') {
      REQUIRE(old.at(at++) == line.substr(1));
    }
    if (line[0] != '-') text += line.substr(1) + "\n";
  }
  while (at < old.size())
    text += old[at++] + "\n";
  return text;
}

}  // namespace

TEST_CASE("line diff: a changed line stands with three around it, as diff -u has it") {
  std::string b = numbered(10);
  b.replace(b.find("5\n"), 2, "five\n");
  CHECK(line_diff(numbered(10), b, 100) ==
        LineDiff{1, 1, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n", false});
  CHECK(line_diff(b, b, 100) == LineDiff{});
  CHECK(line_diff("", "x\n", 100) == LineDiff{1, 0, "@@ -0,0 +1 @@\n+x\n", false});
  CHECK(line_diff("x\n", "x", 100).text == "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n");
}

TEST_CASE("line diff: applied to the first text it gives the second, with the fewest changes") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto text = [&] {
      std::string made;
      for (auto lines = random() % 40; lines > 0; --lines)
        made += std::string(1, static_cast<char>('a' + static_cast<char>(random() % 4))) + "\n";
      return made;
    };
    const std::string a = text();
    const std::string b = text();
    const LineDiff diff = line_diff(a, b, 1000);
    CHECK(patched(a, diff.text) == b);
    // The longest common subsequence, by the book.
    const auto of_a = lines_of(a);
    const auto of_b = lines_of(b);
    std::vector<std::vector<std::size_t>> common(of_a.size() + 1,
                                                 std::vector<std::size_t>(of_b.size() + 1));
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      for (std::size_t k = 0; k < of_b.size(); ++k) {
        common[i + 1][k + 1] =
            of_a[i] == of_b[k] ? common[i][k] + 1 : std::max(common[i][k + 1], common[i + 1][k]);
      }
    }
    const std::size_t longest = common[of_a.size()][of_b.size()];
    CHECK(diff.removed == of_a.size() - longest);
    CHECK(diff.added == of_b.size() - longest);
  }
}

TEST_CASE("line diff: what is too long is cut, and what is too different is not searched") {
  const LineDiff cut = line_diff("", numbered(50), 10);
  CHECK(cut.is_cut);
  CHECK(cut.added == 50);
  CHECK(lines_of(cut.text).size() == 10);
  std::string other;
  for (int i = 0; i < 3000; ++i)
    other += "x" + std::to_string(i) + "\n";
  const LineDiff all = line_diff("same\n" + numbered(3000), "same\n" + other, 20);
  CHECK(all.added == 3000);
  CHECK(all.removed == 3000);
  CHECK(all.is_cut);
  const LineDiff wide = line_diff("", std::string(5000, 'x') + "\n", 10);
  CHECK(wide.text.size() < 500);
}
