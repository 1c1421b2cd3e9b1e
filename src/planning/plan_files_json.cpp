#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/recipe_preparer.hpp>
#include <sabath/planning/stage_template.hpp>

#include <nlohmann/json.hpp>

#include <exception>

namespace sabath::planning {

// Written as a plan without a run.

void write_prepared(const std::filesystem::path& file, const PreparedRecipe& prepared) {
  spec::RunPlan plan;
  plan.environment = prepared.environments.own;
  plan.variants = prepared.environments.variants;
  plan.inputs = prepared.inputs;
  plan.variant = prepared.request.variant;
  std::error_code none;
  std::filesystem::remove(unprepared(file), none);  // of an earlier try
  write_plan(file, plan);
}

PreparedRecipe read_prepared(const std::filesystem::path& file, const RunRequest& request) {
  const spec::RunPlan plan = spec::parse_run_plan(base::read_file(file), file.string());
  PreparedRecipe prepared{request, {}, {plan.environment, {}, {}}, plan.inputs};
  if (plan.variants) prepared.environments.variants = *plan.variants;
  prepared.request.variant = plan.variant.value_or("");
  return prepared;
}

std::filesystem::path unprepared(const std::filesystem::path& file) {
  return file.string() + ".failed";
}

void write_unprepared(const std::filesystem::path& file, const base::Error& error) noexcept {
  try {
    const nlohmann::json document = {{"message", base::printable(error.what(), true)},
                                     {"hint", base::printable(error.hint(), true)}};
    base::write_file_atomically(unprepared(file), base::pretty_json(document));
  } catch (const std::exception&) {
    return;  // its exit status says so, too
  }
}

base::Error read_unprepared(const std::filesystem::path& file, const std::string& place) {
  const std::filesystem::path path = unprepared(file);
  auto document = base::JsonDocument::parse(base::read_file(path), path.string());
  base::JsonReader reader = document.root();
  const std::string message = reader.required("message").string();
  const std::string hint = reader.required("hint").string();
  reader.finish();
  document.finish();
  return {base::ErrorKind::environment, place + message, hint};
}

void write_plan(const std::filesystem::path& file,
                const spec::RunPlan& plan,
                base::Durability durability) {
  base::write_file_atomically(file, base::pretty_json(spec::to_json(plan)), durability);
}

void write_parameters(const std::filesystem::path& file, const spec::ParameterValues& parameters) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : parameters)
    object[name] = spec::to_json(value);
  base::write_file_atomically(file, base::pretty_json(object), base::Durability::ordered_only);
}

std::string canonical_list(const std::vector<std::string>& items) {
  return base::canonical_json(nlohmann::json(items));
}

}  // namespace sabath::planning
