#include "attempt_folder.hpp"

#include "claim.hpp"
#include "objects/file_status.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view left_prefix = "left.";
constexpr std::string_view borrowed_prefix = "borrowed.";

bool is_orphan(const std::string& name, const base::ProcessIdentity& self) {
  if (name.starts_with(left_prefix)) return true;
  const auto owner = base::ProcessIdentity::parse(name);
  return owner && is_provably_gone(*owner, self);
}

base::Beneath opened(const base::Directory& key_folder, const fs::path& folder) {
  base::Directory own = key_folder.beneath(folder.filename());
  if (!is_private_folder(own.status())) {
    throw base::Error(base::ErrorKind::storage,
                      folder.string() + ": is not a private folder of this user");
  }
  if (const auto why = base::why_kept(key_folder, own))
    throw base::Error(base::ErrorKind::storage, folder.string() + ": is not used: " + *why);
  return base::Beneath(std::move(own));
}

/// A group could let us move another user's attempt, which we cannot read or write, or a folder of
/// this user's that sabath did not make.
bool is_own(const Layout& layout, const fs::path& folder) {
  try {
    const auto [key_folder, name] = layout.beneath().parent_of(folder);
    const base::Directory own = key_folder.beneath(name);
    return is_private_folder(own.status()) && !base::why_kept(key_folder, own);
  } catch (const base::Error&) {
    return false;
  }
}

/// Others could exchange the folders of two keys, or move this one. An older version, or a process
/// that died early, noted no key.
bool is_of_key(const Layout& layout, const base::Beneath& own, const fs::path& key_folder) {
  const auto noted = own.read_if_exists(own.root() / attempt_key);
  if (noted && !noted->text.empty()) return noted->text == key_folder.filename();
  return !layout.is_exposed(key_folder);
}

void note_key(const base::Beneath& own) {
  const std::string key = own.root().parent_path().filename();
  const base::UniqueFd file =
      own.open_file(own.root() / attempt_key, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
  if (!file) base::throw_errno(own.root().string(), "cannot note the key", errno);
  base::write_all(file.get(), base::as_bytes(key), own.root() / attempt_key);
}

/// Makes `folder`, and returns the folder of its key.
base::Directory made(const Layout& layout, const fs::path& folder) {
  int code = 0;
  // Another process that ends the last attempt of the key may remove the key's folder.
  for (int tries = 0; tries < 16; ++tries) {
    layout.ensure_folder(folder.parent_path(), base::Durability::ordered_only);
    try {
      base::Directory keys = layout.beneath().directory(folder.parent_path());
      code = base::make_marked(keys, folder.filename().string(), 0700);
      if (code == 0) return keys;
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::not_found) throw;
      code = ENOENT;
    }
    if (code != ENOENT) break;
  }
  base::throw_errno(folder.string(), "cannot make the folder", code);
}

}  // namespace

Attempt::Attempt(const Layout& layout,
                 const fs::path& key_folder,
                 const base::ProcessIdentity& self)
    : cache_(layout.beneath()),
      folder_(key_folder / (self.text() + "." + random_name())),
      key_folder_(made(layout, folder_)),
      own_(opened(key_folder_, folder_)) {
  try {
    note_key(own_);
  } catch (const base::Error&) {
    remove();
    throw;
  }
}

Attempt::Attempt(const Layout& layout, fs::path folder)
    : cache_(layout.beneath()),
      folder_(std::move(folder)),
      key_folder_(cache_.directory(folder_.parent_path())),
      own_(opened(key_folder_, folder_)),
      keeps_(true) {}

Attempt::~Attempt() {
  if (keeps_) leave();
  if (!folder_.empty() && !keeps_) remove();
}

void Attempt::remove() noexcept {
  try {
    // Another folder may have the name by now: empties the open one.
    base::remove_all_in(own_.directory(own_.root()));
  } catch (const base::Error&) {
    return;  // it is an orphan when this process is gone
  }
  key_folder_.remove_empty(folder_.filename().string());
  cache_.remove_empty(folder_.parent_path());
}

Attempt::Attempt(Attempt&& other) noexcept
    : cache_(std::move(other.cache_)),
      folder_(std::move(other.folder_)),
      key_folder_(std::move(other.key_folder_)),
      own_(std::move(other.own_)),
      keeps_(other.keeps_) {
  other.folder_.clear();
}

void Attempt::leave() noexcept {
  keeps_ = true;
  if (folder_.empty()) return;
  try {
    const std::string left = std::string(left_prefix) + random_name();
    if (key_folder_.rename(folder_.filename().string(), key_folder_, left) == 0) folder_.clear();
  } catch (const std::exception&) {
    // It keeps this process's name, and is an orphan when the process is gone.
  }
}

std::vector<Attempt> Attempt::take_orphans(const Layout& layout,
                                           const fs::path& key_folder,
                                           const base::ProcessIdentity& self) {
  std::vector<Attempt> taken;
  std::error_code code;
  for (fs::directory_iterator it(key_folder, code), end; !code && it != end; it.increment(code)) {
    if (!is_orphan(it->path().filename().string(), self)) continue;
    if (!is_own(layout, it->path())) continue;
    const fs::path mine = key_folder / (self.text() + "." + random_name());
    if (layout.beneath().rename(it->path(), mine) != 0) continue;
    std::optional<Attempt> one;
    try {
      one.emplace(Attempt(layout, mine));
    } catch (const base::Error&) {
      layout.beneath().rename(mine, it->path());  // for later
      continue;
    }
    if (is_of_key(layout, one->own_, key_folder)) taken.push_back(std::move(*one));
  }
  return taken;
}

fs::path borrowed_folder(const fs::path& attempt, std::string_view borrower) {
  const std::string name =
      base::is_safe_name(borrower) ? std::string(borrower) : base::sha256_of(borrower).hex;
  return attempt / (std::string(borrowed_prefix) + name);
}

std::vector<fs::path> borrowed_folders(const fs::path& attempt) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(attempt, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->path().filename().string().starts_with(borrowed_prefix) && it->is_directory(ignored) &&
        !fs::is_empty(it->path(), ignored)) {
      folders.push_back(it->path());
    }
  }
  return folders;
}

bool may_have_borrowed_folders(const fs::path& attempt) {
  if (!borrowed_folders(attempt).empty()) return true;
  std::error_code code;
  const fs::directory_iterator readable(attempt, code);
  return static_cast<bool>(code);
}

void move_borrowed_folders(const base::Beneath& beneath, const fs::path& from, const fs::path& to) {
  for (const fs::path& folder : borrowed_folders(from)) {
    // Fails where the same borrower has a folder there; that one stays.
    beneath.rename(folder, to / folder.filename());
  }
}

std::uint64_t bytes_beneath(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code ignored;
    if (fs::is_regular_file(it->symlink_status(ignored))) bytes += it->file_size(ignored);
  }
  return bytes;
}

}  // namespace sabath::cache
