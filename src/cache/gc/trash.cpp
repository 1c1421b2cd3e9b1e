#include "trash.hpp"

#include "trees/listing.hpp"

#include <sabath/base/error.hpp>

#include <cerrno>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// Of the folder that stays in the trash: a full file system has no room for a new one.
constexpr const char* kept_number = "0";

std::string random_number() {
  return std::to_string(std::random_device{}());
}

bool can_others_write(const struct stat& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/// What a collection has moved to the trash has a number at the end of its name. What else stands
/// there was put there by another.
bool has_number(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && dot + 1 < name.size() &&
         name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
}

bool is_private(const struct stat& status) {
  return S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && !can_others_write(status);
}

std::string own_name(const std::string& number) {
  return std::to_string(::geteuid()) + "." + number;
}

/// Gives a private folder in the trash a name that only this collection knows, and empties it.
std::optional<base::Directory> claimed(const base::Directory& trash,
                                       const std::string& name,
                                       const std::string& new_name) {
  const auto before = trash.status_of(name);
  if (!before || !is_private(*before)) return std::nullopt;
  if (trash.rename_no_replace(name, trash, new_name) != 0) return std::nullopt;
  base::Directory folder = trash.beneath(new_name);
  const struct stat after = folder.status();
  if (!is_private(after) || after.st_dev != before->st_dev || after.st_ino != before->st_ino)
    return std::nullopt;
  for (const std::string& left : folder.names())
    folder.remove_tree(left);
  return folder;
}

}  // namespace

Trash::~Trash() {
  if (!own_) return;
  try {
    for (const std::string& name : own_->names())
      own_->remove_tree(name);
  } catch (const base::Error&) {
    // The next collection removes it.
  }
  try {
    if (layout_.beneath().rename_no_replace(path_, layout_.trash() / own_name(kept_number))) return;
  } catch (const base::Error&) {
    // Then no folder is kept.
  }
  layout_.beneath().remove_empty(path_);
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

/// Why trash/ itself cannot be made.
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
  problem_ = trash.make(name, 0700);
  if (problem_ == 0) {
    base::Directory made = trash.beneath(name);
    if (!is_private(made.status())) return std::nullopt;
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
      if (before->st_uid != ::geteuid() || can_others_write(*before)) return std::nullopt;
      // Who is not root may move only folders that he may write.
      folder.set_own_mode(0755);
    }
    const std::string new_name = name + "." + random_number();
    if (parent.rename_no_replace(name, *trash, new_name) != 0) return std::nullopt;
    const auto after = trash->status_of(new_name);
    if (after && after->st_dev == before->st_dev && after->st_ino == before->st_ino)
      return new_name;
    trash->rename_no_replace(new_name, parent, name);
  } catch (const base::Error&) {
    // It is gone, or stands behind a link.
  }
  return std::nullopt;
}

void Trash::put_back(const std::string& name, const fs::path& path) {
  try {
    const auto [parent, old_name] = layout_.beneath().parent_of(path);
    own_->rename_no_replace(name, parent, old_name);
  } catch (const base::Error&) {
    return;  // its folder is gone
  }
}

void Trash::remove(const std::string& name) {
  own_->remove_tree(name);
}

void Trash::remove_leftovers() {
  own();  // also where nothing is removed: a later collection may find the file system full
  for (const fs::path& path : listing(layout_.trash())) {
    if (path == path_ || !has_number(path.filename().string())) continue;
    if (const auto name = take(path)) remove(*name);
  }
}

}  // namespace sabath::cache
