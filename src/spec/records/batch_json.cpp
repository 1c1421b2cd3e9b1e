#include "documents/document_json.hpp"
#include "documents/site_json.hpp"

#include <sabath/spec/batch.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

std::size_t at_least_one(int pack) {
  return static_cast<std::size_t>(std::max(pack, 1));
}

}  // namespace

std::size_t BatchPlan::tasks() const {
  const std::size_t each = at_least_one(pack);
  return std::max<std::size_t>(1, runs.size() / each + (runs.size() % each == 0 ? 0 : 1));
}

std::vector<std::string> BatchPlan::runs_of(std::size_t task) const {
  if (task < 1 || task > tasks()) return {};
  const std::size_t each = at_least_one(pack);
  const std::size_t first = (task - 1) * each;
  const std::size_t last = std::min(runs.size(), first + each);
  return {runs.begin() + static_cast<std::ptrdiff_t>(first),
          runs.begin() + static_cast<std::ptrdiff_t>(last)};
}

std::size_t BatchPlan::task_of(std::string_view run_id) const {
  const auto found = std::find(runs.begin(), runs.end(), run_id);
  if (found == runs.end()) return 0;
  return static_cast<std::size_t>(found - runs.begin()) / at_least_one(pack) + 1;
}

nlohmann::ordered_json to_json(const BatchPlan& plan) {
  return document_of(plan);
}

BatchPlan parse_batch_plan(std::string_view text, const std::string& origin) {
  return parse_document<BatchPlan>(text, origin);
}

nlohmann::ordered_json to_json(const BatchJobs& jobs) {
  return document_of(jobs);
}

BatchJobs parse_batch_jobs(std::string_view text, const std::string& origin) {
  return parse_document<BatchJobs>(text, origin);
}

}  // namespace sabath::spec
