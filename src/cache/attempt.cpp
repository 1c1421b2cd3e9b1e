#include "attempt.hpp"

#include "claim.hpp"
#include "layout.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <cerrno>
#include <cstdio>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view left_prefix = "left.";

bool is_orphan(const std::string& name, const base::ProcessIdentity& self) {
  if (name.starts_with(left_prefix)) return true;
  const auto owner = base::ProcessIdentity::parse(name);
  return owner && is_provably_gone(*owner, self);
}

}  // namespace

Attempt::Attempt(const fs::path& key_folder, const base::ProcessIdentity& self)
    : folder_(key_folder / (self.text() + "." + random_name())) {
  // Whoever ends the last attempt of a key removes the key's folder, perhaps just now.
  for (int tries = 0; tries < 16; ++tries) {
    ensure_folder(key_folder);
    if (::mkdir(folder_.c_str(), 0700) == 0) return;
    if (errno != ENOENT) break;
  }
  base::throw_errno(folder_.string(), "cannot make the folder", errno);
}

Attempt::~Attempt() {
  if (keeps_) leave();
  if (folder_.empty() || keeps_) return;
  base::remove_tree(folder_);
  ::rmdir(folder_.parent_path().c_str());
}

Attempt::Attempt(Attempt&& other) noexcept
    : folder_(std::move(other.folder_)), keeps_(other.keeps_) {
  other.folder_.clear();
}

void Attempt::leave() noexcept {
  keeps_ = true;
  if (folder_.empty()) return;
  try {
    const fs::path left = folder_.parent_path() / (std::string(left_prefix) + random_name());
    if (::rename(folder_.c_str(), left.c_str()) == 0) folder_.clear();
  } catch (const std::exception&) {
    // It has our name until we are gone, and is an orphan then.
  }
}

std::vector<Attempt> Attempt::take_orphans(const fs::path& key_folder,
                                           const base::ProcessIdentity& self) {
  std::vector<Attempt> taken;
  std::error_code code;
  for (fs::directory_iterator it(key_folder, code), end; !code && it != end; it.increment(code)) {
    if (!is_orphan(it->path().filename().string(), self)) continue;
    // Where a group may write: another's attempt could be moved, but not be read or written.
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    const fs::path mine = key_folder / (self.text() + "." + random_name());
    if (::rename(it->path().c_str(), mine.c_str()) == 0) taken.push_back(Attempt(mine));
  }
  return taken;
}

}  // namespace sabath::cache
