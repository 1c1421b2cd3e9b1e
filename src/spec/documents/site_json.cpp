#include "site_json.hpp"

#include "checked_read.hpp"
#include "document_json.hpp"

namespace sabath::spec {

void StagingForm::check(const Staging& staging, base::JsonReader& reader) {
  if (!reader.is_object() || staging.inputs || staging.environments) return;
  reader.problem("neither 'inputs' nor 'environments' is true, so nothing is copied there");
}

Site parse_site(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  Site site;
  site.name = read_file_name(origin, root, "site");
  FieldReader::read_as<SiteForm>(root, site);
  document.finish();
  return site;
}

nlohmann::ordered_json to_json(const Site& site) {
  return document_as<SiteForm>(site);
}

}  // namespace sabath::spec
