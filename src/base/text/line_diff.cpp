#include <sabath/base/text/line_diff.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace sabath::base {
namespace {

constexpr std::size_t context = 3;
constexpr std::int64_t most_changes = 1000;
constexpr std::size_t longest_line = 400;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

enum class Edit : char { keep = ' ', remove = '-', add = '+' };

/// The shortest way through the grid of both texts' lines: `reached[d][k]` is how far in `a` one
/// gets with d edits on the diagonal k = x - y.
class ShortestEdit {
 public:
  ShortestEdit(const std::vector<int>& a, const std::vector<int>& b) : a_(a), b_(b) {}

  std::vector<Edit> edits() {
    const std::int64_t last = a_size() - b_size();
    for (std::int64_t d = 0; d <= std::min(a_size() + b_size(), most_changes); ++d) {
      advance(d);
      if (last >= -d && last <= d && (last + d) % 2 == 0 && at(d, last) >= a_size())
        return way_back(d);
    }
    // Too different for that to be worth its memory.
    std::vector<Edit> all(a_.size(), Edit::remove);
    all.insert(all.end(), b_.size(), Edit::add);
    return all;
  }

 private:
  std::int64_t a_size() const { return static_cast<std::int64_t>(a_.size()); }
  std::int64_t b_size() const { return static_cast<std::int64_t>(b_.size()); }
  std::int64_t& at(std::int64_t d, std::int64_t k) {
    return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)];
  }
  /// Does the best way to diagonal k with d edits come from above, by an added line?
  bool is_from_above(std::int64_t d, std::int64_t k) {
    return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1));
  }

  void advance(std::int64_t d) {
    reached_.emplace_back(static_cast<std::size_t>(d + 1));
    for (std::int64_t k = -d; k <= d; k += 2) {
      std::int64_t x = 0;
      if (d > 0) x = is_from_above(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      std::int64_t y = x - k;
      // Beyond the texts' ends nothing is equal, and such ways lead nowhere.
      while (x < a_size() && y < b_size() && y >= 0 &&
             a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)]) {
        ++x;
        ++y;
      }
      at(d, k) = x;
    }
  }

  std::vector<Edit> way_back(std::int64_t d) {
    std::vector<Edit> edits;
    std::int64_t x = a_size();
    std::int64_t k = a_size() - b_size();
    for (; d > 0; --d) {
      const bool above = is_from_above(d, k);
      const std::int64_t before = above ? k + 1 : k - 1;
      const std::int64_t from = at(d - 1, before);
      const std::int64_t begin = above ? from : from + 1;
      edits.insert(edits.end(), static_cast<std::size_t>(x - begin), Edit::keep);
      edits.push_back(above ? Edit::add : Edit::remove);
      x = from;
      k = before;
    }
    edits.insert(edits.end(), static_cast<std::size_t>(x), Edit::keep);
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const std::vector<int>& a_;
  const std::vector<int>& b_;
  std::vector<std::vector<std::int64_t>> reached_{};
};

std::vector<Edit> edits_between(const std::vector<std::string_view>& a,
                                const std::vector<std::string_view>& b) {
  std::size_t front = 0;
  while (front < std::min(a.size(), b.size()) && a[front] == b[front])
    ++front;
  std::size_t back = 0;
  while (back < std::min(a.size(), b.size()) - front &&
         a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  std::unordered_map<std::string_view, int> numbers;
  const auto numbered = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> result;
    for (std::size_t i = front; i < lines.size() - back; ++i)
      result.push_back(
          numbers.try_emplace(lines[i], static_cast<int>(numbers.size())).first->second);
    return result;
  };
  const std::vector<int> of_a = numbered(a);
  const std::vector<int> of_b = numbered(b);
  std::vector<Edit> edits(front, Edit::keep);
  const std::vector<Edit> middle = ShortestEdit(of_a, of_b).edits();
  edits.insert(edits.end(), middle.begin(), middle.end());
  edits.insert(edits.end(), back, Edit::keep);
  return edits;
}

std::string line_text(Edit edit, std::string_view line) {
  const bool is_ended = line.ends_with('\n');
  std::string_view content = is_ended ? line.substr(0, line.size() - 1) : line;
  std::string text(1, static_cast<char>(edit));
  if (content.size() > longest_line) {
    std::size_t end = longest_line;
    while (end > 0 && (static_cast<unsigned char>(content[end]) & 0xC0U) == 0x80U)
      --end;  // not within a character of several bytes
    text += std::string(content.substr(0, end)) + "...";
  } else {
    text += content;
  }
  return text + (is_ended ? "\n" : "\n\\ No newline at end of file\n");
}

/// A place in both texts, and the edit from there on.
struct Step {
  Edit edit = Edit::keep;
  std::size_t a = 0;
  std::size_t b = 0;
};

std::string range_text(std::size_t begin, std::size_t count) {
  // An empty range is named by the line before it.
  const std::string first = std::to_string(count == 0 ? begin : begin + 1);
  return count == 1 ? first : first + "," + std::to_string(count);
}

/// Changes that stand together, from `begin` to `end`, with what is equal around them.
struct Hunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Hunk> hunks_of(const std::vector<Step>& steps) {
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].edit == Edit::keep) continue;
    const std::size_t begin = i < context ? 0 : i - context;
    const std::size_t end = std::min(i + 1 + context, steps.size());
    if (!hunks.empty() && begin <= hunks.back().end) {
      hunks.back().end = end;
    } else {
      hunks.push_back({begin, end});
    }
  }
  return hunks;
}

std::string head_of(const Step& begin, const Step& last) {
  const std::size_t count_a = last.a + (last.edit == Edit::add ? 0 : 1) - begin.a;
  const std::size_t count_b = last.b + (last.edit == Edit::remove ? 0 : 1) - begin.b;
  return "@@ -" + range_text(begin.a, count_a) + " +" + range_text(begin.b, count_b) + " @@\n";
}

std::vector<Step> steps_of(const std::vector<Edit>& edits, LineDiff& diff) {
  std::vector<Step> steps;
  Step at;
  for (const Edit edit : edits) {
    at.edit = edit;
    steps.push_back(at);
    if (edit != Edit::add) ++at.a;
    if (edit != Edit::remove) ++at.b;
    diff.added += edit == Edit::add ? 1 : 0;
    diff.removed += edit == Edit::remove ? 1 : 0;
  }
  return steps;
}

}  // namespace

LineDiff line_diff(std::string_view a, std::string_view b, std::size_t most_lines) {
  const std::vector<std::string_view> of_a = lines_of(a);
  const std::vector<std::string_view> of_b = lines_of(b);
  LineDiff diff;
  const std::vector<Step> steps = steps_of(edits_between(of_a, of_b), diff);
  std::size_t room = most_lines;
  for (const Hunk& hunk : hunks_of(steps)) {
    if (room < 2) {
      diff.is_cut = true;
      break;
    }
    diff.text += head_of(steps[hunk.begin], steps[hunk.end - 1]);
    const std::size_t end = std::min(hunk.end, hunk.begin + --room);
    diff.is_cut = end < hunk.end;
    for (std::size_t i = hunk.begin; i < end; ++i) {
      const Step& step = steps[i];
      diff.text += line_text(step.edit, step.edit == Edit::add ? of_b[step.b] : of_a[step.a]);
    }
    room -= end - hunk.begin;
  }
  return diff;
}

}  // namespace sabath::base
