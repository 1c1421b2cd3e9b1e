#include "memo.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_note = 256;

/// Makes `folder` and its parents, each new one for this user alone.
bool make_private_folders(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || !folder.has_relative_path()) return false;
  return make_private_folders(folder.parent_path()) &&
         (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST);
}

int open_to_write(const fs::path& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace

Memo::Memo(const fs::path& private_directory, const fs::path& cache_root)
    : folder_(fs::absolute(private_directory) / "memo" /
              base::sha256_of(cache_root.string()).hex.substr(0, 16)) {}

bool Memo::is_private() const {
  if (!is_private_) {
    std::error_code code;
    if (!fs::exists(folder_, code)) return false;
    is_private_ = !base::why_untrusted(folder_);
  }
  return *is_private_;
}

bool Memo::vouches(const fs::path& name, std::string_view fingerprint) const {
  if (!is_private()) return false;
  const fs::path path = folder_ / name;
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return false;
  std::array<char, longest_note> note{};
  const ssize_t got = ::read(fd.get(), note.data(), note.size());
  return got > 0 && std::string_view(note.data(), static_cast<std::size_t>(got)) == fingerprint;
}

void Memo::remember(const fs::path& name, std::string_view fingerprint) const {
  const fs::path path = folder_ / name;
  base::UniqueFd fd(open_to_write(path));
  if (!fd && errno == ENOENT && make_private_folders(path.parent_path())) {
    fd.reset(open_to_write(path));
  }
  // A note that cannot be kept costs time later and nothing else.
  if (fd && ::write(fd.get(), fingerprint.data(), fingerprint.size()) < 0) forget(name);
}

void Memo::forget(const fs::path& name) const {
  ::unlink((folder_ / name).c_str());
}

}  // namespace sabath::cache
