#include <sabath/base/error.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
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

bool is_reserved_tag(std::string_view tag) {
  return tag.starts_with("asset:") || tag.starts_with("task:") || tag == "explain" ||
         is_hybrid_tag(tag);
}

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

std::set<std::string> executed_by(const RunRecord& record) {
  const auto reused = std::ranges::find(record.stages, "reused", &StageRecord::state);
  if (reused == record.stages.end()) return {record.run_id};
  std::vector<MetricSpec> declared;
  try {
    if (!record.recipe_text.empty())
      declared = parse_recipe(record.recipe_text, record.run_id).metrics;
  } catch (const base::Error&) {
    // Of another version, perhaps: all metrics count as declared.
  }
  std::set<std::string> judged;
  std::set<std::string> measured;
  for (const MetricSummary& metric : record.metrics) {
    measured.insert(metric.stream);
    if (std::ranges::find(declared, metric.name, &MetricSpec::name) != declared.end())
      judged.insert(metric.stream);
  }
  if (judged.empty()) judged = std::move(measured);
  std::set<std::string> runs;
  for (const StageRecord& stage : record.stages) {
    if (!judged.empty() && !judged.contains(stage.name)) continue;
    if (stage.state == "reused" || stage.state == "ok")
      runs.insert(executor_of(record, stage.name));
  }
  if (runs.empty()) runs.insert(record.run_id);
  return runs;
}

const std::string& executor_of(const RunRecord& record, std::string_view stage) {
  const auto found = std::ranges::find(record.stages, stage, &StageRecord::name);
  const bool is_reused = found != record.stages.end() && found->state == "reused";
  return is_reused ? found->made_by_run : record.run_id;
}

}  // namespace sabath::spec
