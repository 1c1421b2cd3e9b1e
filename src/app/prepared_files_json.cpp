#include <sabath/app/prepared_files.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::app {

// As a plan that has no run: what is ready is a part of it.

void write_prepared(const std::filesystem::path& file, const PreparedRecipe& prepared) {
  spec::RunPlan plan;
  plan.environment = prepared.environments.own;
  plan.variants = prepared.environments.variants;
  plan.inputs = prepared.inputs;
  plan.variant = prepared.request.variant;
  base::write_file_atomically(file, base::pretty_json(spec::to_json(plan)));
}

PreparedRecipe read_prepared(const std::filesystem::path& file, const RunRequest& request) {
  const spec::RunPlan plan = spec::parse_run_plan(base::read_file(file), file.string());
  PreparedRecipe prepared{
      request,
      {plan.environment, plan.variants.value_or(std::map<std::string, spec::BuiltEnvironment>{})},
      plan.inputs};
  prepared.request.variant = plan.variant.value_or("");
  return prepared;
}

}  // namespace sabath::app
