#include "object_store.hpp"

#include "damaged.hpp"

#include <sabath/base/error.hpp>

#include <cerrno>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Returns why the file cannot share an inode with an object: owner, mode and names are shared,
/// too.
std::optional<std::string> why_not_shared(const FileStatus& status) {
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & 0111) != 0) return "it is executable, and objects are not";
  if (status.st_nlink > 1) return "it has other names, through which it could change";
  return std::nullopt;
}

std::string why_not_linked(int problem) {
  if (problem == EXDEV) return "it lies on another file system than the cache";
  return "no hard link can be made: " + std::generic_category().message(problem);
}

constexpr const char* changed_since = "it was changed after it was hashed";
constexpr const char* in_the_way = "a damaged file is in its place";

bool is_same_but_for_names(const FileStatus& a, const FileStatus& b) {
  return is_same_file(a, b) && a.st_size == b.st_size && a.st_uid == b.st_uid &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

Inspection ObjectStore::inspect(const base::Digest& digest,
                                bool full,
                                const ReadProgress& progress) const {
  const fs::path path = layout_.object(digest);
  Inspection result;
  const auto status = link_status(path);
  if (!status) return result;
  result.exists = true;
  result.status = *status;
  result.size_bytes = static_cast<std::uint64_t>(status->st_size);
  if (!S_ISREG(status->st_mode)) {
    result.damaged.push_back({path, "is not a regular file"});
    return result;
  }
  const bool may_be_known = !full && base::is_trusted_owner(status->st_uid, trust_);
  if (may_be_known && memo_.vouches(Memo::Kind::object, digest, fingerprint(*status))) {
    if (progress) progress(result.size_bytes);
    return result;
  }
  const HashedFile hashed = hash_file(path, progress);
  result.bytes_hashed = static_cast<std::uint64_t>(hashed.status.st_size);
  result.status = hashed.status;
  if (hashed.digest == digest) {
    memo_.remember(Memo::Kind::object, digest, fingerprint(hashed.status));
  } else {
    memo_.forget(Memo::Kind::object, digest);
    result.damaged.push_back({path, "has bytes of " + hashed.digest.text()});
  }
  return result;
}

std::optional<Object> ObjectStore::find(const base::Digest& digest) const {
  auto found = look(digest);
  return found ? std::optional(std::move(found->object)) : std::nullopt;
}

std::optional<ObjectStore::Found> ObjectStore::look(const base::Digest& digest) const {
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
    Found found{{digest, inspection.size_bytes, path}, inspection.status};
    if (uses_ == nullptr) return found;
    uses_->note(layout_.used_object(digest));
    if (!link_status(path)) return std::nullopt;  // collected in this moment
    return found;
  }
  if (uses_ != nullptr) set_aside(layout_, clock_, path, digest, inspection.status.st_ino);
  return std::nullopt;
}

Object ObjectStore::adopt(const base::Beneath& from,
                          const fs::path& file,
                          const base::Digest& digest,
                          const FileStatus& hashed) const {
  const fs::path path = layout_.object(digest);
  const auto [source, source_name] = from.parent_of(file);
  for (int tries = 0; tries < 8; ++tries) {
    if (auto present = find(digest)) return *present;
    layout_.ensure_folder(path.parent_path());
    const auto [folder, name] = layout_.beneath().parent_of(path);
    const int code = source.rename_no_replace(source_name, folder, name);
    if (code == EEXIST) continue;
    if (code != 0) base::throw_errno(path.string(), "cannot rename to it", code);
    folder.sync();
    const auto status = folder.status_of(name);
    if (!status) break;
    // A file that somebody else has put there is hashed before its use.
    if (is_same_but_for_names(hashed, *status)) {
      memo_.remember(Memo::Kind::object, digest, fingerprint(*status));
    } else {
      continue;
    }
    return {digest, static_cast<std::uint64_t>(status->st_size), path};
  }
  throw Error(ErrorKind::storage,
              path.string() + ": cannot be published: a damaged file is in its place",
              "remove that file");
}

std::optional<std::string> ObjectStore::take_inode(const Found& found, const fs::path& file) const {
  const auto [object, right] = found;
  // Its owner may write to it at any time.
  if (right.st_uid != ::geteuid() && right.st_uid != 0) return "the object is another user's";
  const base::Beneath run(file.parent_path());
  const fs::path link = file.parent_path() / (".sabath-" + object.digest.hex);
  run.unlink(link);  // left by a killed process
  if (const int problem = run.make_hard_link(object.path, link)) return why_not_linked(problem);
  // Another user may have exchanged the object since it was verified.
  const auto linked = link_status(link);
  if (!linked || !is_same_but_for_names(right, *linked)) {
    run.unlink(link);
    return "the object was exchanged meanwhile";
  }
  if (const int problem = run.rename(link, file)) {
    run.unlink(link);
    return why_not_linked(problem);
  }
  // A new name changes the ctime, which is part of the fingerprint.
  const auto after = link_status(object.path);
  if (after && is_same_but_for_names(right, *after))
    memo_.remember(Memo::Kind::object, object.digest, fingerprint(*after));
  return std::nullopt;
}

std::optional<std::string> ObjectStore::link(const base::Digest& digest,
                                             const fs::path& file) const {
  const auto found = look(digest);
  if (!found) return "the object is gone";
  const auto status = link_status(file);
  // rename(2) does nothing for two names of one file.
  if (status && is_same_file(*status, found->status)) return std::nullopt;
  return take_inode(*found, file);
}

std::optional<std::string> ObjectStore::make_object(const fs::path& file,
                                                    const base::Digest& digest,
                                                    const FileStatus& hashed,
                                                    bool durable) const {
  const fs::path path = layout_.object(digest);
  layout_.ensure_folder(path.parent_path());
  const base::Beneath run(file.parent_path());
  if (const int code = run.set_mode(file, 0444); code != 0) return why_not_linked(code);
  if (durable) sync_file(file);
  const int problem = layout_.beneath().make_hard_link(file, path);
  if (problem == EEXIST) return in_the_way;
  if (problem == 0) {
    // A process with an open descriptor may have written until now. Later writes change the times,
    // and the memo no longer vouches for it.
    const auto linked = link_status(path);
    if (linked && is_same_but_for_names(hashed, *linked)) {
      if (!durable) return std::nullopt;
      layout_.beneath().sync(path.parent_path());
      memo_.remember(Memo::Kind::object, digest, fingerprint(*linked));
      return std::nullopt;
    }
    if (linked && is_same_file(hashed, *linked)) layout_.beneath().unlink(path);
  }
  run.set_mode(file, hashed.st_mode & 07777);
  return problem == 0 ? changed_since : why_not_linked(problem);
}

std::optional<std::string> ObjectStore::share(const fs::path& file,
                                              const base::Digest& digest,
                                              const FileStatus& hashed,
                                              bool durable) const {
  const auto status = link_status(file);
  if (!status) return "it is gone";
  const auto object = link_status(layout_.object(digest));
  if (object && is_same_file(*status, *object)) return std::nullopt;
  if (auto reason = why_not_shared(*status)) return reason;
  if (fingerprint(hashed) != fingerprint(*status)) return changed_since;
  for (int tries = 0; tries < 8; ++tries) {
    if (const auto present = look(digest)) {
      if (durable) sync_file(present->object.path);
      const auto now = link_status(file);
      if (!now || !is_same_but_for_names(hashed, *now)) return changed_since;
      return take_inode(*present, file);
    }
    auto reason = make_object(file, digest, hashed, durable);
    if (reason != in_the_way) return reason;
  }
  return in_the_way;
}

}  // namespace sabath::cache
