#include "run_record_json.hpp"

#include "documents/document_json.hpp"

#include <algorithm>

namespace sabath::spec {
namespace {

bool stands_for_itself(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/// The same as base::canonical_json, sooner: most texts need no escapes.
void append_canonical(std::string& json, const std::string& text) {
  if (std::all_of(text.begin(), text.end(), stands_for_itself)) {
    json.append("\"").append(text).append("\"");
  } else {
    json += base::canonical_json(text);
  }
}

}  // namespace

base::Digest Facet::digest() const {
  std::string json = "{";
  for (const auto& [item, value] : items) {
    if (json.size() > 1) json += ',';
    append_canonical(json, item);
    json += ':';
    append_canonical(json, value);
  }
  return base::sha256_of(json + "}");
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
