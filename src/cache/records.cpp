#include "records.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// The memo's key of a record.
base::Digest memo_key(const Layout& layout, const fs::path& path) {
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

bool belongs_at(const Layout& layout, const fs::path& path, const SourceRecord& record) {
  return layout.source(record.url) == path;
}

bool belongs_at(const Layout& layout, const fs::path& path, const AssetRecord& record) {
  return layout.asset(record.name) == path;
}

bool belongs_at(const Layout& layout, const fs::path& path, const StageOutputs& record) {
  return layout.stage(record.key) == path;
}

bool belongs_at(const Layout& /*layout*/, const fs::path& /*path*/, const base::Digest& /*tree*/) {
  return true;
}

bool must_be_own(const SourceRecord& record) {
  return record.kind == SourceRecord::Kind::digest;
}

bool Records::is_own(const struct stat& status) {
  return status.st_uid == ::geteuid();
}

bool Records::is_record_file(const struct stat& status) {
  constexpr mode_t record_mode = 0644;
  return (status.st_mode & 0777U) == record_mode && status.st_nlink == 1;
}

bool Records::vouches(const fs::path& path, const std::string& meaning) const {
  return memo_.vouches(Memo::Kind::record, memo_key(layout_, path), meaning);
}

void Records::remember(const fs::path& path, const std::string& meaning) const {
  memo_.remember(Memo::Kind::record, memo_key(layout_, path), meaning);
}

void Records::put(const fs::path& path, const std::string& text) const {
  layout_.ensure_folder(path.parent_path());
  layout_.beneath().write_atomically(path, text);
}

}  // namespace sabath::cache
