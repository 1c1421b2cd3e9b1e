#include "small_file.hpp"

#include "digester.hpp"
#include "partials/attempt_folder.hpp"
#include "partials/partial_checks.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {

namespace fs = std::filesystem;
using base::ByteRange;

SmallFile::SmallFile(base::Beneath beneath,
                     fs::path path,
                     std::string name,
                     const fs::path& borrowed,
                     std::vector<base::Digest> wanted)
    : beneath_(std::move(beneath)),
      path_(std::move(path)),
      name_(std::move(name)),
      borrowed_folder_(borrowed),
      wanted_(std::move(wanted)),
      prefix_(wanted_) {}

SmallFile::~SmallFile() {
  if (fd_ && !is_finished_) beneath_.unlink(path_);
}

void SmallFile::reserve(std::uint64_t size_bytes) {
  borrowed_.clear();
  if (exceeds_any_file(0, size_bytes)) base::throw_errno(path_.string(), "cannot write", EFBIG);
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

unsigned SmallFile::number_of(const base::ByteSource& source) {
  borrowed_.clear();
  const auto known = std::ranges::find(sources_, source);
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
  if (exceeds_any_file(offset_bytes, bytes.size()))
    base::throw_errno(path_.string(), "cannot write", EFBIG);
  borrowed_.clear();
  const ByteRange range = checked_range(offset_bytes, bytes.size(), size_bytes_);
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
  borrowed_.clear();
  if (range.begin >= range.end) return;
  forget_hashes();
  present_.remove({range.begin / most_in_memory * most_in_memory,
                   (range.end - 1) / most_in_memory * most_in_memory + most_in_memory});
}

void SmallFile::restart() {
  if (!borrowed_.empty()) beneath_.remove_tree(borrowed_.parent_path());
  borrowed_.clear();
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

base::DigestMatch SmallFile::matches() {
  if (wanted_.empty() || !borrowed_.empty() || !is_complete(present_, size_bytes_))
    return base::DigestMatch::unknown;
  return match_of(digests(), wanted_);
}

fs::path SmallFile::lend(std::string_view borrower) {
  const fs::path own = borrowed_folder_ / base::sha256_of(name_).hex.substr(0, 32);
  const fs::path folder = borrowed_folder(own, borrower);
  beneath_.make_directories(folder);
  borrowed_ = folder / borrowed_file_name;
  return borrowed_;
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
    digests_ = digests_of(fd_.get(), path_, final_bytes_, wanted_);
  } else {
    prefix_.restart();
    prefix_.update(base::ByteView(buffer_).first(static_cast<std::size_t>(final_bytes_)));
    digests_ = prefix_.finish();
  }
  return digests_;
}

std::vector<base::Digest> SmallFile::finish() {
  if (!borrowed_.empty()) return finish_borrowed();
  check_complete(present_, size_bytes_);
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
  // Network file systems report a full disk at the close.
  if (::close(fd_.release()) != 0) {
    const int problem = errno;
    beneath_.unlink(path_);
    base::throw_errno(path_.string(), "cannot write", problem);
  }
  is_finished_ = true;
}

std::vector<base::Digest> SmallFile::finish_borrowed() {
  const base::UniqueFd fd = beneath_.open_file(borrowed_, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    base::throw_errno(borrowed_.string(), "cannot read", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw base::Error(base::ErrorKind::storage, borrowed_.string() + ": is not a regular file");
  }
  final_bytes_ = static_cast<std::uint64_t>(status.st_size);
  auto result = digests_of(fd.get(), borrowed_, final_bytes_, wanted_);
  if (::fchmod(fd.get(), 0444) != 0) base::throw_errno(path_.string(), "cannot write", errno);
  if (const int code = beneath_.rename(borrowed_, path_); code != 0) {
    base::throw_errno(path_.string(), "cannot write", code);
  }
  beneath_.remove_tree(borrowed_.parent_path());
  is_finished_ = true;
  return result;
}

}  // namespace sabath::cache
