#include "resources_json.hpp"

namespace sabath::spec {

Resources read_resources(base::JsonReader reader) {
  Resources resources;
  FieldReader::read_as<ResourcesForm>(reader, resources);
  return resources;
}

void ResourcesForm::check(const Resources& resources, base::JsonReader& reader) {
  if (!resources.tasks || *resources.tasks >= resources.nodes.value_or(1)) return;
  reader.optional("tasks").problem(
      std::to_string(*resources.tasks) + " on " + std::to_string(*resources.nodes) + " nodes",
      "a node without a task would not be given: say fewer nodes, "
      "or nothing of tasks for one on each");
}

}  // namespace sabath::spec
