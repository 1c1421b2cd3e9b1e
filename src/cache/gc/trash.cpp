#include "trash.hpp"

#include "folder_listing.hpp"
#include "objects/file_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>

#include <cerrno>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// Number of the folder that stays: a full file system has no room for a new one.
constexpr const char* kept_number = "0";

std::string random_number() {
  return std::to_string(std::random_device{}());
}

/// A name with a number at its end, as collections give. Other entries are strangers.
bool has_number(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && dot + 1 < name.size() &&
         name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
}

std::string own_name(const std::string& number) {
  return std::to_string(::geteuid()) + "." + number;
}

void empty(const base::Directory& folder) {
  for (const std::string& name : folder.names()) {
    if (name != base::made_mark) folder.remove_tree(name);
  }
}

/// Renames a private folder of the trash to a name that only this collection knows, and empties it.
std::optional<base::Directory> claimed(const base::Directory& trash,
                                       const std::string& name,
                                       const std::string& new_name) {
  const auto before = trash.status_of(name);
  if (!before || !is_private_folder(*before)) return std::nullopt;
  base::Directory folder = trash.beneath(name);
  if (!is_private_folder(folder.status())) return std::nullopt;
  if (base::why_kept(trash, folder)) {
    trash.remove_empty(name);
    return std::nullopt;
  }
  if (trash.rename_no_replace(name, trash, new_name) != 0) return std::nullopt;
  const auto after = trash.status_of(new_name);
  if (!after || !is_same_file(*after, folder.status())) {
    trash.rename_no_replace(new_name, trash, name);
    return std::nullopt;
  }
  empty(folder);
  base::mark(folder);  // an older version made it without
  return folder;
}

}  // namespace

Trash::~Trash() {
  if (!own_) return;
  try {
    empty(*own_);
  } catch (const base::Error&) {
    // The next collection removes it.
  }
  try {
    if (layout_.beneath().rename_no_replace(path_, layout_.trash() / own_name(kept_number))) return;
  } catch (const base::Error&) {
    // Then no folder is kept.
  }
  base::remove_own_tree(layout_.beneath(), path_);
}

const base::Directory* Trash::own() {
  if (own_) return &*own_;
  try {
    layout_.ensure_folder(layout_.trash());
    const base::Directory trash = layout_.beneath().directory(layout_.trash());
    const std::string name = own_name(random_number());
    own_ = claimed(trash, own_name(kept_number), name);
    if (!own_) own_ = make(trash, name);
    if (!own_) return nullptr;
    problem_ = 0;
    path_ = layout_.trash() / name;
    return &*own_;
  } catch (const base::Error&) {
    if (problem_ == 0) problem_ = folder_problem();
    return nullptr;
  }
}

/// Returns the errno of making trash/ itself.
int Trash::folder_problem() const {
  try {
    const auto [parent, name] = layout_.beneath().parent_of(layout_.trash());
    const int problem = parent.make(name, 0755);
    return problem == EEXIST ? 0 : problem;
  } catch (const base::Error&) {
    return 0;
  }
}

std::optional<base::Directory> Trash::make(const base::Directory& trash, const std::string& name) {
  problem_ = base::make_marked(trash, name, 0700);
  if (problem_ == 0) {
    base::Directory made = trash.beneath(name);
    if (!is_private_folder(made.status())) return std::nullopt;
    return made;
  }
  if (problem_ != ENOSPC && problem_ != EDQUOT) return std::nullopt;
  for (const std::string& left : trash.names()) {
    if (!left.starts_with(own_name("")) || !has_number(left)) continue;
    if (auto folder = claimed(trash, left, name)) return folder;
  }
  return std::nullopt;
}

std::optional<std::string> Trash::take(const fs::path& path) {
  const base::Directory* const trash = own();
  if (trash == nullptr) return std::nullopt;
  try {
    const auto [parent, name] = layout_.beneath().parent_of(path);
    auto before = parent.status_of(name);
    if (!before || before->st_uid != ::geteuid()) return std::nullopt;
    if (S_ISDIR(before->st_mode)) {
      const base::Directory folder = parent.beneath(name);
      before = folder.status();
      if (base::why_kept(parent, folder)) {
        if (before->st_uid != ::geteuid() || parent.remove_empty(name) != 0) return std::nullopt;
        return name;
      }
      // Without root, only a writable folder can be moved.
      folder.set_own_mode((before->st_mode & 07777U) | S_IRWXU);
    }
    const std::string new_name = name + "." + random_number();
    if (parent.rename_no_replace(name, *trash, new_name) != 0) return std::nullopt;
    const auto after = trash->status_of(new_name);
    if (after && is_same_file(*after, *before)) return new_name;
    trash->rename_no_replace(new_name, parent, name);
  } catch (const base::Error&) {
    // It is gone, or behind a link.
  }
  return std::nullopt;
}

void Trash::put_back(const std::string& name, const fs::path& path) {
  try {
    const auto [parent, old_name] = layout_.beneath().parent_of(path);
    const auto status = own_->status_of(name);
    std::optional<base::Directory> folder;
    if (status && S_ISDIR(status->st_mode)) folder = own_->beneath(name);
    if (own_->rename_no_replace(name, parent, old_name) == 0 && folder) folder->set_own_mode(0555);
  } catch (const base::Error&) {
    return;  // its folder is gone
  }
}

void Trash::remove(const std::string& name) {
  own_->remove_tree(name);
}

std::vector<fs::path> Trash::leftovers() const {
  std::vector<fs::path> left = listing(layout_.trash());
  std::erase_if(left, [&](const fs::path& path) {
    return path == path_ || !has_number(path.filename().string());
  });
  return left;
}

void Trash::remove_leftovers() {
  own();  // now, because a later collection may find the file system full
  for (const fs::path& path : leftovers()) {
    if (const auto name = take(path)) remove(*name);
  }
}

}  // namespace sabath::cache
