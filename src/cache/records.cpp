#include "records.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// By which the memo knows a record.
base::Digest name_of(const Layout& layout, const fs::path& path) {
  return base::sha256_of(path.lexically_relative(layout.root()).string());
}

}  // namespace

std::string meaning_of(SourceRecord record) {
  record.fetched.clear();
  return source_text(record);
}

std::string meaning_of(const AssetRecord& record) {
  return asset_text(record);
}

std::string meaning_of(StageOutputs record) {
  record.run_id.clear();
  record.host.clear();
  record.made.clear();
  return stage_text(record);
}

std::string meaning_of(const base::Digest& unpacked) {
  return unpacked.text();
}

/// Where a group may write, its members can move this user's files: an object (0444), or a second
/// name of a file, is not a record.
bool Records::is_believed(const struct stat& status) const {
  if (!base::is_trusted_owner(status.st_uid, trust_)) return false;
  if (!layout_.is_shared()) return true;
  constexpr mode_t record_mode = 0644;
  return (status.st_mode & 0777U) == record_mode && status.st_nlink == 1;
}

bool Records::vouches(const fs::path& path, const std::string& meaning) const {
  return memo_.vouches(Memo::Kind::record, name_of(layout_, path), meaning);
}

void Records::remember(const fs::path& path, const std::string& meaning) const {
  memo_.remember(Memo::Kind::record, name_of(layout_, path), meaning);
}

void Records::put(const fs::path& path, const std::string& text) const {
  layout_.ensure_folder(path.parent_path());
  layout_.beneath().write_atomically(path, text);
}

}  // namespace sabath::cache
