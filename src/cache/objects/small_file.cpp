#include "small_file.hpp"

#include "digester.hpp"
#include "gc/lent_folder.hpp"
#include "read_range.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::ByteRange;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t most_in_memory = 1U << 20U;
constexpr std::uint64_t longest_small_file = std::numeric_limits<off_t>::max();

}  // namespace

SmallFile::SmallFile(base::Beneath beneath,
                     fs::path path,
                     std::string name,
                     const fs::path& lent,
                     std::vector<base::Digest> wanted)
    : beneath_(std::move(beneath)),
      path_(std::move(path)),
      name_(std::move(name)),
      lent_folder_(lent),
      wanted_(std::move(wanted)),
      prefix_(wanted_) {}

SmallFile::~SmallFile() {
  if (fd_ && !is_finished_) beneath_.unlink(path_);
}

void SmallFile::reserve(std::uint64_t size_bytes) {
  lent_.clear();
  if (size_bytes > longest_small_file) base::throw_errno(path_.string(), "cannot write", EFBIG);
  if ((size_bytes_ && *size_bytes_ != size_bytes) || present_.end() > size_bytes) {
    present_.clear();
    forget_hashes();
  }
  size_bytes_ = size_bytes;
  if (size_bytes <= most_in_memory) {
    buffer_.reserve(static_cast<std::size_t>(size_bytes));
    return;
  }
  spill();
  if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes)) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) {
    base::throw_errno(path_.string(), "cannot write", errno);
  }
}

std::uint64_t SmallFile::piece_bytes() const {
  return most_in_memory;
}

unsigned SmallFile::number_of(const base::ByteSource& source) {
  lent_.clear();
  const auto known = std::find(sources_.begin(), sources_.end(), source);
  const auto number = static_cast<unsigned>(known - sources_.begin());
  if (known != sources_.end()) return number;
  for (const auto& [range, old] : present_.list()) {
    if (sources_[old].url != source.url) continue;
    present_.remove(range);
    forget_hashes();
  }
  sources_.push_back(source);
  return number;
}

void SmallFile::write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) {
  if (bytes.size() > longest_small_file || offset_bytes > longest_small_file - bytes.size()) {
    base::throw_errno(path_.string(), "cannot write", EFBIG);
  }
  lent_.clear();
  const ByteRange range{offset_bytes, offset_bytes + bytes.size()};
  if (size_bytes_ && range.end > *size_bytes_) {
    throw Error(ErrorKind::integrity,
                "staged file: gets bytes up to " + std::to_string(range.end) + ", but has only " +
                    std::to_string(*size_bytes_));
  }
  if (sources_.empty()) number_of({});
  hash(offset_bytes, bytes);
  if (!fd_ && range.end > most_in_memory) spill();
  if (!fd_) {
    if (buffer_.size() < range.end) buffer_.resize(static_cast<std::size_t>(range.end));
    if (!bytes.empty()) std::memcpy(buffer_.data() + offset_bytes, bytes.data(), bytes.size());
  } else if (::lseek(fd_.get(), static_cast<off_t>(offset_bytes), SEEK_SET) < 0) {
    base::throw_errno(path_.string(), "cannot write", errno);
  } else {
    base::write_all(fd_.get(), bytes, path_);
  }
  present_.add(range, source);
}

void SmallFile::drop(ByteRange range) {
  lent_.clear();
  if (range.begin >= range.end) return;
  forget_hashes();
  present_.remove({range.begin / most_in_memory * most_in_memory,
                   (range.end - 1) / most_in_memory * most_in_memory + most_in_memory});
}

void SmallFile::restart() {
  if (!lent_.empty()) beneath_.remove_tree(lent_.parent_path());
  lent_.clear();
  present_.clear();
  forget_hashes();
  sources_.clear();
  size_bytes_.reset();
}

void SmallFile::hash(std::uint64_t offset_bytes, base::ByteView bytes) {
  if (offset_bytes < prefix_.bytes() || !digests_.empty()) forget_hashes();
  if (offset_bytes == prefix_.bytes()) prefix_.update(bytes);
}

void SmallFile::forget_hashes() {
  prefix_.restart();
  digests_.clear();
}

bool SmallFile::is_complete() const {
  const std::uint64_t end = present_.end();
  return present_.prefix() == end && end == size_bytes_.value_or(end);
}

base::DigestMatch SmallFile::matches() {
  if (wanted_.empty() || !lent_.empty() || !is_complete()) return base::DigestMatch::unknown;
  const auto actual = digests();
  const bool all = std::all_of(wanted_.begin(), wanted_.end(), [&](const base::Digest& digest) {
    return std::find(actual.begin(), actual.end(), digest) != actual.end();
  });
  return all ? base::DigestMatch::right : base::DigestMatch::wrong;
}

fs::path SmallFile::lend(std::string_view borrower) {
  const fs::path own = lent_folder_ / base::sha256_of(name_).hex.substr(0, 32);
  const fs::path folder = lent_folder(own, borrower);
  beneath_.make_directories(folder);
  lent_ = folder / lent_file_name;
  return lent_;
}

base::UniqueFd SmallFile::create(unsigned mode) const {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL;
  base::UniqueFd fd = beneath_.open_file(path_, flags, mode);
  if (!fd && errno == EEXIST && beneath_.unlink(path_) == 0)
    fd = beneath_.open_file(path_, flags, mode);
  if (!fd) base::throw_errno(path_.string(), "cannot write", errno);
  return fd;
}

void SmallFile::spill() {
  if (fd_) return;
  fd_ = create(0600);
  base::write_all(fd_.get(), buffer_, path_);
  buffer_ = {};
}

std::vector<base::Digest> SmallFile::digests() {
  if (!digests_.empty()) return digests_;
  final_bytes_ = present_.end();
  if (prefix_.bytes() == final_bytes_) {
    digests_ = prefix_.finish();
  } else if (fd_) {
    digests_ = digests_of(fd_.get(), path_);
  } else {
    prefix_.restart();
    prefix_.update(base::ByteView(buffer_).first(static_cast<std::size_t>(final_bytes_)));
    digests_ = prefix_.finish();
  }
  return digests_;
}

std::vector<base::Digest> SmallFile::digests_of(int fd, const fs::path& path) {
  Digester digester(wanted_);
  std::vector<std::byte> buffer;
  read_range(fd, path, {0, final_bytes_}, buffer, [&digester](base::ByteView bytes) {
    digester.update(bytes);
  });
  if (digester.bytes() != final_bytes_) {
    throw Error(ErrorKind::storage, path.string() + ": changes while it is read");
  }
  return digester.finish();
}

std::vector<base::Digest> SmallFile::finish() {
  if (!lent_.empty()) return finish_lent();
  if (!is_complete()) {
    throw Error(ErrorKind::integrity,
                "staged file: is incomplete: nothing was written at byte " +
                    std::to_string(present_.prefix()) + " of " +
                    std::to_string(size_bytes_.value_or(present_.end())));
  }
  return digests();
}

void SmallFile::put() {
  if (is_finished_) return;
  if (fd_) {
    if (::ftruncate(fd_.get(), static_cast<off_t>(final_bytes_)) != 0 ||
        ::fchmod(fd_.get(), 0444) != 0) {
      base::throw_errno(path_.string(), "cannot write", errno);
    }
  } else {
    fd_ = create(0444);
    buffer_.resize(static_cast<std::size_t>(final_bytes_));
    base::write_all(fd_.get(), buffer_, path_);
  }
  // Network file systems tell of a full disk when the file is closed.
  if (::close(fd_.release()) != 0) {
    const int problem = errno;
    beneath_.unlink(path_);
    base::throw_errno(path_.string(), "cannot write", problem);
  }
  is_finished_ = true;
}

std::vector<base::Digest> SmallFile::finish_lent() {
  const base::UniqueFd fd = beneath_.open_file(lent_, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    base::throw_errno(lent_.string(), "cannot read", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::storage, lent_.string() + ": is no regular file");
  }
  final_bytes_ = static_cast<std::uint64_t>(status.st_size);
  auto result = digests_of(fd.get(), lent_);
  if (::fchmod(fd.get(), 0444) != 0) base::throw_errno(path_.string(), "cannot write", errno);
  if (const int code = beneath_.rename(lent_, path_); code != 0) {
    base::throw_errno(path_.string(), "cannot write", code);
  }
  beneath_.remove_tree(lent_.parent_path());
  is_finished_ = true;
  return result;
}

}  // namespace sabath::cache
