#include "document_json.hpp"

namespace sabath::spec {

base::JsonDocument open_document(std::string_view text, const std::string& origin) {
  base::JsonDocument document = base::JsonDocument::parse(text, origin);
  base::JsonReader root = document.root();
  base::JsonReader schema = root.optional("schema");
  if (!root.is_object()) document.finish();
  if (!schema.exists()) return document;  // noted when the rest is read
  const std::int64_t version = schema.integer();
  if (!schema.is_integer() || version == schema_version) return document;
  const std::string known = std::to_string(schema_version);
  schema.problem(
      "schema " + std::to_string(version) + " is not known: this sabath reads schema " + known,
      version > schema_version ? "a newer sabath wrote this; use that one" : "");
  if (version > schema_version) document.finish();
  return document;
}

}  // namespace sabath::spec
