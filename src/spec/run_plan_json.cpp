#include "run_plan_json.hpp"

#include "document_json.hpp"

namespace sabath::spec {

nlohmann::ordered_json to_json(const RunPlan& plan) {
  return document_of(plan);
}

RunPlan parse_run_plan(std::string_view text, const std::string& origin) {
  return parse_document<RunPlan>(text, origin);
}

}  // namespace sabath::spec
