#include "documents/document_json.hpp"
#include "recipes/metric_json.hpp"

#include <sabath/spec/collection.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::spec {

SABATH_DESCRIBE(Collection, number, run_id, created, sabath_version, metrics, collected);

nlohmann::ordered_json to_json(const Collection& collection) {
  return document_of(collection);
}

Collection parse_collection(std::string_view text, const std::string& origin) {
  return parse_document<Collection>(text, origin);
}

std::vector<MetricSpec> parse_patterns(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  if (root.optional("stages").exists()) return parse_recipe(text, origin).metrics;
  std::vector<MetricSpec> metrics;
  for (auto& [name, entry] : root.required("metrics").members())
    metrics.push_back(read_metric(name, entry));
  root.finish();
  document.finish();
  return metrics;
}

}  // namespace sabath::spec
