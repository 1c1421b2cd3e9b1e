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

}  // namespace sabath::spec
