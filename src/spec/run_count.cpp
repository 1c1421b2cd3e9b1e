#include <sabath/spec/run_count.hpp>

#include <fmt/format.h>

#include <map>

namespace sabath::spec {

RunCount count_runs(const std::vector<std::string>& reasons) {
  std::map<std::string, std::uint64_t> left_out;
  RunCount count{reasons.size(), 0, {}};
  for (const std::string& reason : reasons) {
    if (reason.empty()) {
      ++count.counted;
    } else {
      ++left_out[reason];
    }
  }
  for (const auto& [reason, runs] : left_out)
    count.left_out.push_back({reason, runs});
  return count;
}

std::string count_text(const RunCount& count) {
  const char* const verb = count.all == 1 ? "run counts" : "runs count";
  if (count.counted == count.all)
    return count.all == 1 ? std::string("the run counts")
                          : fmt::format("all {} {}", count.all, verb);
  std::string left_out;
  for (const LeftOut& out : count.left_out)
    left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", out.runs, out.reason);
  return fmt::format("{} of {} {}; left out: {}", count.counted, count.all, verb, left_out);
}

namespace {

bool is_hybrid_tag(std::string_view tag) {
  constexpr std::string_view prefix = "hybrid-";
  constexpr std::size_t digits = 16;  // as app::explain_pair writes them
  if (!tag.starts_with(prefix) || tag.size() != prefix.size() + digits) return false;
  return tag.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

}  // namespace

RunPurpose purpose_of(const std::vector<std::string>& tags) {
  bool is_explain = false;
  bool is_hybrid = false;
  for (const std::string& tag : tags) {
    if (tag.starts_with("asset:")) return RunPurpose::asset;
    is_explain = is_explain || tag == "explain";
    is_hybrid = is_hybrid || is_hybrid_tag(tag);
  }
  return is_explain && is_hybrid ? RunPurpose::explanation : RunPurpose::requested;
}

}  // namespace sabath::spec
