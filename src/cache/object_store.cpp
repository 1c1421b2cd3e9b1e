#include "object_store.hpp"

#include "damaged.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr Memo::Kind kind = Memo::Kind::object;

}  // namespace

Inspection ObjectStore::inspect(const base::Digest& digest,
                                bool full,
                                const ReadProgress& progress) const {
  const fs::path path = layout_.object(digest);
  Inspection result;
  const auto status = link_status(path);
  if (!status) return result;
  result.exists = true;
  result.size_bytes = static_cast<std::uint64_t>(status->st_size);
  result.inode = status->st_ino;
  if (!S_ISREG(status->st_mode)) {
    result.damaged.push_back({path, "is no regular file"});
    return result;
  }
  result.fingerprint = fingerprint(*status);
  if (!full && memo_.vouches(kind, digest, result.fingerprint)) {
    if (progress) progress(result.size_bytes);
    return result;
  }
  const HashedFile hashed = hash_file(path, progress);
  result.bytes_hashed = static_cast<std::uint64_t>(hashed.status.st_size);
  result.inode = hashed.status.st_ino;
  result.fingerprint = fingerprint(hashed.status);
  if (hashed.digest == digest) {
    memo_.remember(kind, digest, result.fingerprint);
  } else {
    memo_.forget(kind, digest);
    result.damaged.push_back({path, "has bytes of " + hashed.digest.text()});
  }
  return result;
}

std::optional<Object> ObjectStore::find(const base::Digest& digest) const {
  Inspection inspection;
  const fs::path path = layout_.object(digest);
  try {
    inspection = inspect(digest, false);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_found) return std::nullopt;  // gone since a moment ago
    throw;
  }
  if (!inspection.exists) return std::nullopt;
  if (inspection.damaged.empty()) {
    if (uses_ == nullptr) return Object{digest, inspection.size_bytes, path};
    uses_->note(layout_.used_object(digest));
    if (!link_status(path)) return std::nullopt;  // collected in this moment
    return Object{digest, inspection.size_bytes, path};
  }
  if (uses_ != nullptr) set_aside(layout_, clock_, path, digest, inspection.inode);
  return std::nullopt;
}

Object ObjectStore::adopt(const fs::path& file, const base::Digest& digest) const {
  const fs::path path = layout_.object(digest);
  for (int tries = 0; tries < 8; ++tries) {
    if (auto present = find(digest)) return *present;
    ensure_folder(path.parent_path());
    if (!base::rename_no_replace(file, path)) continue;
    base::sync_directory(path.parent_path());
    const auto status = link_status(path);
    if (!status) break;
    memo_.remember(kind, digest, fingerprint(*status));
    return {digest, static_cast<std::uint64_t>(status->st_size), path};
  }
  throw Error(ErrorKind::storage,
              path.string() + ": cannot be published: a damaged file stands there and stays",
              "remove that file");
}

}  // namespace sabath::cache
