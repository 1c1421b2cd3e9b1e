#include "host_facts_json.hpp"

#include "documents/document_json.hpp"

namespace sabath::spec {

nlohmann::ordered_json to_json(const HostFacts& facts) {
  return document_of(facts);
}

HostFacts read_host_facts(base::JsonReader reader) {
  HostFacts facts;
  reader.optional("schema");  // there where the facts were a document of their own
  FieldReader io(reader);
  describe(io, facts);
  reader.finish();
  return facts;
}

HostFacts parse_host_facts(std::string_view text, const std::string& origin) {
  return parse_document<HostFacts>(text, origin);
}

}  // namespace sabath::spec
