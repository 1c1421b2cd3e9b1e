#include "run_plan_json.hpp"

#include "documents/document_json.hpp"

namespace sabath::spec {

const BuiltEnvironment& RunPlan::environment_of(const PlannedStage& stage) const {
  return stage.variant ? variants.value().at(*stage.variant) : environment;
}

std::vector<BuiltEnvironment> RunPlan::environments() const {
  std::vector<BuiltEnvironment> all{environment};
  for (const auto& [name, built] : variants.value_or(std::map<std::string, BuiltEnvironment>{}))
    all.push_back(built);
  return all;
}

nlohmann::ordered_json to_json(const RunPlan& plan) {
  return document_of(plan);
}

RunPlan parse_run_plan(std::string_view text, const std::string& origin) {
  return parse_document<RunPlan>(text, origin);
}

}  // namespace sabath::spec
