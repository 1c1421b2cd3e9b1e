#include <sabath/base/error.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/study.hpp>

#include <set>

namespace sabath::spec {
namespace {

struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

[[noreturn]] void refuse(std::string_view text, const std::string& problem) {
  throw base::Error(base::ErrorKind::usage,
                    "'" + base::printable(text) + "' is not a range of seeds" + problem,
                    R"(a range is "1..3", a list "1,5,7"; a seed is at most 18446744073709551615)");
}

SeedRange parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = base::number_in<std::uint64_t>(text.substr(0, dots));
  const auto last = dots == std::string_view::npos
                        ? first
                        : base::number_in<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last) refuse(text, "");
  if (*first > *last) {
    refuse(text,
           ": it counts down; write " + std::to_string(*last) + ".." + std::to_string(*first));
  }
  if (*last - *first >= most_study_runs) {
    refuse(text, ": a study has at most " + std::to_string(most_study_runs) + " runs");
  }
  return {*first, *last};
}

}  // namespace

std::vector<std::uint64_t> parse_seeds(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> seen;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    const SeedRange range = parse_range(rest.substr(0, comma));
    if (seeds.size() + (range.last - range.first) >= most_study_runs)
      refuse(text, ": a study has at most " + std::to_string(most_study_runs) + " runs");
    for (std::uint64_t i = 0; i <= range.last - range.first; ++i) {
      const std::uint64_t seed = range.first + i;
      if (!seen.insert(seed).second)
        refuse(text, ": " + std::to_string(seed) + " stands in it twice");
      seeds.push_back(seed);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return seeds;
}

}  // namespace sabath::spec
