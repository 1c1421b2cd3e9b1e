#include <sabath/base/text/json_reader.hpp>
#include <sabath/planning/stage_template.hpp>

#include <nlohmann/json.hpp>

namespace sabath::planning {

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
