#include "uses.hpp"

#include "folder_listing.hpp"
#include "objects/file_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cerrno>
#include <random>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// After this time, a process of another host or container counts as gone.
constexpr std::time_t longest_process_s = std::time_t{30} * 86'400;

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

base::UniqueFd make_file(const Layout& layout, const fs::path& path, int flags) {
  const auto make = [&] {
    // All who may write to the cache must be able to note a use: the folder decides.
    return layout.beneath().open_file(path, O_WRONLY | O_CREAT | O_NONBLOCK | flags, 0664);
  };
  base::UniqueFd fd = make();
  if (fd || errno != ENOENT) return fd;
  try {
    layout.ensure_folder(path.parent_path());
  } catch (const base::Error&) {
    return {};
  }
  return make();
}

}  // namespace

Uses::~Uses() {
  if (!registration_.empty() && pid_ == ::getpid()) layout_.beneath().unlink(registration_);
}

void Uses::begin() const {
  const std::lock_guard lock(mutex_);
  if (pid_ == ::getpid()) return;
  pid_ = ::getpid();
  registration_.clear();
  const fs::path path = layout_.users() / (base::ProcessIdentity::current().text() + "." +
                                           std::to_string(std::random_device{}()));
  const base::UniqueFd fd = make_file(layout_, path, O_EXCL);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return;
  registration_ = path.string();
  begun_ = status.st_mtim;
}

void Uses::note(const fs::path& note) const {
  begin();
  if (registration_.empty()) return;
  struct stat status {};
  if (::lstat(note.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    // One note per process is enough: later uses are kept while it lives.
    if (!is_before(status.st_mtim, begun_)) return;
    if (::utimensat(AT_FDCWD, note.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0) return;
  }
  make_file(layout_, note, 0);
}

std::optional<timespec> first_use_of_the_living(const Layout& layout) {
  const base::ProcessIdentity self = base::ProcessIdentity::current();
  std::optional<timespec> first;
  for (const fs::path& path : listing(layout.users())) {
    const auto status = link_status(path);
    const auto owner = base::ProcessIdentity::parse(path.filename().string());
    if (!status || !owner) continue;
    const bool is_too_old = status->st_mtim.tv_sec + longest_process_s < ::time(nullptr);
    const base::Liveness liveness = base::liveness_of(*owner, self);
    if (liveness == base::Liveness::gone || (liveness == base::Liveness::unknown && is_too_old)) {
      layout.beneath().unlink(path);
    } else if (!first || is_before(status->st_mtim, *first)) {
      first = status->st_mtim;
    }
  }
  return first;
}

}  // namespace sabath::cache
