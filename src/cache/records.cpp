#include "records.hpp"

namespace sabath::cache {

namespace fs = std::filesystem;

std::string meaning_of(SourceRecord record) {
  record.fetched.clear();
  return record_text(record);
}

std::string meaning_of(const AssetRecord& record) {
  return record_text(record);
}

std::string meaning_of(StageOutputs record) {
  record.run_id.clear();
  record.host.clear();
  record.made.clear();
  return record_text(record);
}

std::string meaning_of(const UnpackedTree& record) {
  return record.tree.text();
}

fs::path place_of(const Layout& layout, const SourceRecord& record) {
  return layout.source(record.url);
}

fs::path place_of(const Layout& layout, const AssetRecord& record) {
  return layout.asset(record.name);
}

fs::path place_of(const Layout& layout, const StageOutputs& record) {
  return layout.stage(record.key);
}

fs::path place_of(const Layout& layout, const UnpackedTree& record) {
  return layout.unpacked(record.archive);
}

}  // namespace sabath::cache
