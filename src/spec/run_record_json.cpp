#include "run_record_json.hpp"

#include "document_json.hpp"

namespace sabath::spec {

base::Digest Facet::digest() const {
  return base::sha256_of(base::canonical_json(items));
}

nlohmann::ordered_json to_json(const RunStatus& status) {
  return document_of(status);
}

RunStatus parse_run_status(std::string_view text, const std::string& origin) {
  return parse_document<RunStatus>(text, origin);
}

nlohmann::ordered_json to_json(const RunRecord& record) {
  return document_of(record);
}

RunRecord parse_run_record(std::string_view text, const std::string& origin) {
  return parse_document<RunRecord>(text, origin);
}

}  // namespace sabath::spec
