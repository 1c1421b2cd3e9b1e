#include "placement.hpp"

#include "partials/claim.hpp"
#include "read_range.hpp"

#include <sabath/base/directory.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/write_access.hpp>

#include <linux/fs.h>

#include <array>
#include <cerrno>
#include <limits>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// A temporary file beside its destination, removed unless it is put there.
class NewFile {
 public:
  NewFile(const base::Directory& folder, const fs::path& destination)
      : folder_(folder), destination_(destination), name_(".sabath-" + random_name()) {
    fd_ = folder_.open_file(name_, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!fd_) base::throw_errno(destination_.string(), "cannot write", errno);
  }
  ~NewFile() {
    if (!name_.empty()) folder_.unlink(name_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int fd() const { return fd_.get(); }
  /// Returns false when the destination exists by now.
  bool put(unsigned mode) {
    if (::fchmod(fd_.get(), mode) != 0 || ::close(fd_.release()) != 0) {
      base::throw_errno(destination_.string(), "cannot write", errno);
    }
    const int code = folder_.rename_no_replace(name_, folder_, destination_.filename());
    if (code == EEXIST) return false;
    if (code != 0) base::throw_errno(destination_.string(), "cannot rename to it", code);
    name_.clear();
    return true;
  }

 private:
  const base::Directory& folder_;
  const fs::path& destination_;
  std::string name_;
  base::UniqueFd fd_;
};

[[noreturn]] void throw_exists(const fs::path& destination) {
  throw Error(ErrorKind::storage,
              destination.string() + ": cannot be written: exists already",
              "remove it, or choose another place");
}

/// Reads to the end. Throws Error{integrity} unless the bytes are the object's.
template <class Take>
void read_checked(int from, const Object& object, const Take& take) {
  base::Hasher hasher;
  std::vector<std::byte> buffer;
  constexpr std::uint64_t all = std::numeric_limits<off_t>::max();
  read_range(from, object.path, {0, all}, buffer, [&](base::ByteView bytes) {
    take(bytes);
    hasher.update(bytes);
  });
  const base::Digest copied = hasher.finish();
  if (copied != object.digest) {
    throw Error(ErrorKind::integrity,
                object.path.string() + ": is damaged: expected " + object.digest.text() + ", got " +
                    copied.text(),
                "'sabath verify' finds what else is damaged");
  }
}

/// Copies and hashes: the result of a system call does not prove a good copy.
void copy_checked(int from, const NewFile& to, const Object& object, const fs::path& destination) {
  read_checked(
      from, object, [&](base::ByteView bytes) { base::write_all(to.fd(), bytes, destination); });
}

/// Returns false where the file system has no symbolic links.
bool link_to(const Object& object, const base::Directory& folder, const fs::path& destination) {
  const int code = folder.make_link(fs::absolute(object.path), destination.filename());
  if (code == 0) return true;
  if (code == EEXIST) throw_exists(destination);
  if (code == EPERM || code == EOPNOTSUPP) return false;
  base::throw_errno(destination.string(), "cannot make the link", code);
}

/// Says whether an earlier call put it there.
bool is_there(const Object& object, const base::Directory& folder, const fs::path& destination) {
  std::error_code code;
  if (fs::read_symlink(destination, code) == fs::absolute(object.path)) return true;
  const base::UniqueFd file =
      folder.open_file(destination.filename(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (static_cast<std::uint64_t>(status.st_size) != object.size_bytes) return false;
  try {
    read_checked(file.get(), object, [](base::ByteView) {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string_view to_string(Placement placement) {
  constexpr std::array<std::string_view, 4> names{"reflink", "symlink", "copy", "already there"};
  return names.at(static_cast<std::size_t>(placement));
}

bool share_blocks(int from, int to) {
  return ::ioctl(to, FICLONE, from) == 0;
}

bool share_object(int from, int to, const Object& object) {
  if (!share_blocks(from, to)) return false;
  const base::UniqueFd folder(
      ::open(object.path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const bool is_safe = folder && !base::can_others_write(folder.get());
  if (!is_safe) read_checked(to, object, [](base::ByteView) {});
  return true;
}

Placement place_object(const Object& object, const fs::path& destination, bool writable) {
  const fs::path target = fs::absolute(destination);
  const auto folder = base::Directory::open_or_make(target.parent_path(), base::Links::own);
  if (!writable && is_there(object, folder, target)) return Placement::there;
  const base::UniqueFd from(
      ::open(object.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!from) base::throw_errno(object.path.string(), "cannot read", errno);
  const unsigned mode = writable ? 0644 : 0444;
  {
    NewFile file(folder, target);
    const bool shared = share_object(from.get(), file.fd(), object);
    if (shared || writable) {
      if (!shared) copy_checked(from.get(), file, object, target);
      if (!file.put(mode)) throw_exists(target);
      return shared ? Placement::reflink : Placement::copy;
    }
  }
  if (link_to(object, folder, target)) return Placement::symlink;
  NewFile file(folder, target);
  copy_checked(from.get(), file, object, target);
  if (!file.put(mode)) throw_exists(target);
  return Placement::copy;
}

}  // namespace sabath::cache
