#include "staged_object.hpp"

#include "file_status.hpp"
#include "placement.hpp"
#include "space.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* data_name = "data";
constexpr const char* marker_name = "unordered";
constexpr std::uint64_t longest_file = std::numeric_limits<off_t>::max();

/// Whoever died between sealing a file and publishing it has left it read-only.
void make_writable(const fs::path& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || ::fchmod(fd.get(), 0600) != 0) base::throw_errno(path.string(), "cannot write", errno);
}

base::UniqueFd open_data(const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  base::UniqueFd fd(::open(path.c_str(), flags, 0600));
  if (!fd && errno == EACCES) {
    make_writable(path);
    fd.reset(::open(path.c_str(), flags, 0600));
  }
  if (!fd) base::throw_errno(path.string(), "cannot write", errno);
  return fd;
}

std::uint64_t size_of(int fd, const fs::path& path) {
  FileStatus status{};
  if (::fstat(fd, &status) != 0) base::throw_errno(path.string(), "cannot read", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::storage, path.string() + ": is no regular file");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

/// The bytes from `begin` on, in pieces, until `end` or the file's end.
template <class Take>
void read_range(int fd, const fs::path& path, std::uint64_t begin, std::uint64_t end, Take&& take) {
  if (begin >= end) return;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(1U << 20U, end - begin));
  while (begin < end) {
    const auto wanted = std::min<std::uint64_t>(buffer.size(), end - begin);
    const ssize_t got = ::pread(fd, buffer.data(), wanted, static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno(path.string(), "cannot read", errno);
    if (got == 0) return;
    take(base::ByteView(buffer).first(static_cast<std::size_t>(got)));
    begin += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

StagedObject::StagedObject(fs::path root, Attempt attempt, const std::vector<base::Digest>& wanted)
    : root_(std::move(root)),
      attempt_(std::move(attempt)),
      fd_(open_data(attempt_.folder() / data_name)),
      wanted_(wanted),
      digester_(wanted) {
  hash_up_to(size_of(fd_.get(), data_path()));
  extents_.add(0, digester_.bytes());
}

StagedObject::~StagedObject() {
  const std::uint64_t kept = contiguous_bytes();
  if (is_sealed_ || is_lent_ || kept == 0) return;
  if (::ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0) return;
  if (is_unordered_ && ::unlink((attempt_.folder() / marker_name).c_str()) != 0) return;
  attempt_.leave();
}

void StagedObject::reserve(std::uint64_t size_bytes) {
  if (size_bytes == 0) return;
  if (size_bytes > longest_file) throw_cannot_store(root_, size_bytes, EFBIG);
  // The size stays what was written, so that what a crash leaves is no longer than its bytes.
  int result = 0;
  do {
    result = ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const int problem = errno;
  if (problem == EOPNOTSUPP) {
    const std::uint64_t present = extents_.end();
    check_free_space(root_, size_bytes > present ? size_bytes - present : 0);
    return;
  }
  // Some file systems keep what they could reserve; others need it more.
  if (::ftruncate(fd_.get(), static_cast<off_t>(extents_.end())) != 0) {
    base::throw_errno(data_path().string(), "cannot shorten", errno);
  }
  throw_cannot_store(root_, size_bytes, problem);
}

void StagedObject::write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned) {
  if (bytes.size() > longest_file || offset_bytes > longest_file - bytes.size()) {
    throw_cannot_store(root_, bytes.size(), EFBIG);
  }
  if (offset_bytes > extents_.prefix()) mark_unordered();
  if (offset_bytes < digester_.bytes()) digester_.restart();
  const std::uint64_t end = offset_bytes + bytes.size();
  base::ByteView rest = bytes;
  while (!rest.empty()) {
    const ssize_t put =
        ::pwrite(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(end - rest.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_cannot_store(root_, rest.size(), errno);
    rest = rest.subspan(static_cast<std::size_t>(put));
  }
  if (offset_bytes == digester_.bytes()) digester_.update(bytes);
  extents_.add(offset_bytes, end);
}

std::uint64_t StagedObject::contiguous_bytes() const {
  return extents_.prefix();
}

void StagedObject::restart() {
  if (::ftruncate(fd_.get(), 0) != 0) {
    base::throw_errno(data_path().string(), "cannot shorten", errno);
  }
  extents_.clear();
  digester_.restart();
}

std::uint64_t StagedObject::piece_bytes() const {
  return 1U << 20U;
}

unsigned StagedObject::number_of(const base::ByteSource& source) {
  const auto known = std::find(sources_.begin(), sources_.end(), source);
  const auto number = static_cast<unsigned>(known - sources_.begin());
  if (known == sources_.end()) sources_.push_back(source);
  return number;
}

std::uint64_t StagedObject::present_bytes() const {
  return extents_.prefix();
}

std::vector<base::SourcedRange> StagedObject::present() const {
  if (extents_.prefix() == 0) return {};
  return {{{0, extents_.prefix()}, 0}};
}

void StagedObject::drop(base::ByteRange) {
  restart();
}

base::DigestMatch StagedObject::matches() {
  return base::DigestMatch::unknown;
}

fs::path StagedObject::lend(std::string_view) {
  mark_unordered();
  is_lent_ = true;
  return data_path();
}

fs::path StagedObject::data_path() const {
  return attempt_.folder() / data_name;
}

void StagedObject::copy_from(const fs::path& file) {
  const base::UniqueFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!from) base::throw_errno(file.string(), "cannot read", errno);
  const std::uint64_t size_bytes = size_of(from.get(), file);
  if (share_blocks(from.get(), fd_.get())) {
    hash_up_to(size_bytes);
    extents_.add(0, digester_.bytes());
    return;
  }
  reserve(size_bytes);
  read_range(from.get(), file, 0, size_bytes, [this](base::ByteView bytes) {
    write_at(extents_.prefix(), bytes);
  });
}

SealedFile StagedObject::seal(const std::vector<base::Digest>& expected) {
  SealedFile sealed;
  sealed.path = data_path();
  if (is_lent_) {
    fd_ = open_data(sealed.path);  // a tool may have put another file in its place
    digester_.restart();
  }
  sealed.size_bytes = size_of(fd_.get(), sealed.path);
  if (!is_lent_ && extents_.prefix() < sealed.size_bytes) {
    throw Error(ErrorKind::integrity,
                "staged file: is incomplete: nothing was written at byte " +
                    std::to_string(extents_.prefix()) + " of " + std::to_string(sealed.size_bytes));
  }
  const bool computes_all =
      std::all_of(expected.begin(), expected.end(), [this](const base::Digest& digest) {
        return digester_.computes(digest.algorithm);
      });
  if (!computes_all) digester_ = Digester(expected);
  hash_up_to(sealed.size_bytes);
  sealed.digests = digester_.finish();
  is_sealed_ = true;
  // Gives back what was reserved in vain.
  const auto size = static_cast<off_t>(sealed.size_bytes);
  if (::ftruncate(fd_.get(), size) != 0 || ::fchmod(fd_.get(), 0444) != 0 ||
      ::fsync(fd_.get()) != 0) {
    throw_cannot_store(root_, sealed.size_bytes, errno);
  }
  return sealed;
}

void StagedObject::hash_up_to(std::uint64_t end_bytes) {
  read_range(fd_.get(), data_path(), digester_.bytes(), end_bytes, [this](base::ByteView bytes) {
    digester_.update(bytes);
  });
}

void StagedObject::mark_unordered() {
  if (is_unordered_) return;
  const fs::path marker = attempt_.folder() / marker_name;
  const base::UniqueFd fd(::open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) base::throw_errno(marker.string(), "cannot write", errno);
  is_unordered_ = true;
}

std::uint64_t adoptable_bytes(const Attempt& attempt) {
  if (link_status(attempt.folder() / marker_name)) return 0;
  const auto data = link_status(attempt.folder() / data_name);
  return data && S_ISREG(data->st_mode) ? static_cast<std::uint64_t>(data->st_size) : 0;
}

}  // namespace sabath::cache
