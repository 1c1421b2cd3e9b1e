#include "partial_object_file.hpp"

#include "attempt_folder.hpp"
#include "objects/digester.hpp"
#include "objects/placement.hpp"
#include "objects/read_range.hpp"
#include "partial_checks.hpp"
#include "space.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
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

/// Undoes the mode of a process that died between sealing a file and publishing it.
void restore_write_mode(const base::Beneath& beneath, const fs::path& path) {
  const base::UniqueFd fd = beneath.open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd || ::fchmod(fd.get(), 0600) != 0) base::throw_errno(path.string(), "cannot write", errno);
}

base::UniqueFd open_data(const base::Beneath& beneath, const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT;
  base::UniqueFd fd = beneath.open_file(path, flags, 0600);
  if (!fd && errno == EACCES) {
    restore_write_mode(beneath, path);
    fd = beneath.open_file(path, flags, 0600);
  }
  if (!fd) base::throw_errno(path.string(), "cannot write", errno);
  return fd;
}

FileStatus status_of_open(int fd, const fs::path& path) {
  FileStatus status{};
  if (::fstat(fd, &status) != 0) base::throw_errno(path.string(), "cannot read", errno);
  return status;
}

std::uint64_t size_of_open(int fd, const fs::path& path) {
  const FileStatus status = status_of_open(fd, path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::storage, path.string() + ": is not a regular file");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

void shorten(int fd, const fs::path& path, std::uint64_t size_bytes) {
  if (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0)
    base::throw_errno(path.string(), "cannot shorten", errno);
}

/// Reserves space without a change of the file's size. Returns the errno.
int reserve_space(int fd, std::uint64_t size_bytes) {
  while (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void write_all_at(int fd, std::uint64_t offset_bytes, base::ByteView bytes, const fs::path& root) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_cannot_store(root, bytes.size(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset_bytes += static_cast<std::uint64_t>(put);
  }
}

/// Reads the open files: others could exchange the folders above.
JournalContent adopted_parts(const Attempt& attempt, int data) {
  const auto journal = read_journal(attempt.beneath(), attempt.folder() / attempt_journal);
  return journal ? only_intact(data, attempt.folder() / attempt_data, *journal) : JournalContent{};
}

/// Seals the file that a tool wrote. Sets `is_useless` where something else than a file is there.
SealedFile sealed_borrowed_file(const base::Beneath& beneath,
                                const fs::path& path,
                                const fs::path& root,
                                const std::vector<base::Digest>& expected,
                                bool& is_useless) {
  const base::UniqueFd fd = beneath.open_file(path, O_RDONLY | O_NONBLOCK);
  const int problem = errno;
  is_useless =
      fd ? !S_ISREG(status_of_open(fd.get(), path).st_mode) : problem == ELOOP || problem == ENXIO;
  if (!fd) base::throw_errno(path.string(), "cannot read", problem);
  SealedFile sealed{path, size_of_open(fd.get(), path), {}, {}, {}};
  sealed.parts = {sealed.size_bytes, {base::ByteSource{}}, {}};
  const std::uint64_t piece = piece_bytes_of(sealed.size_bytes);
  RunSums sums;
  const auto sum = [&](std::uint64_t offset_bytes, base::ByteView bytes) {
    sums.add(offset_bytes, bytes, 0, piece, sealed.parts.ranges);
  };
  sealed.digests = digests_of(fd.get(), path, sealed.size_bytes, expected, sum);
  sums.close_all(sealed.parts.ranges);
  if (::fchmod(fd.get(), 0444) != 0 || ::fsync(fd.get()) != 0) {
    throw_cannot_store(root, sealed.size_bytes, errno);
  }
  sealed.status = status_of_open(fd.get(), path);
  return sealed;
}

}  // namespace

PartialObjectFile::PartialObjectFile(fs::path root,
                                     Attempt attempt,
                                     const std::vector<base::Digest>& wanted)
    : root_(std::move(root)),
      attempt_(std::move(attempt)),
      fd_(open_data(attempt_.beneath(), data_path())),
      wanted_(wanted),
      journal_(attempt_.beneath(),
               attempt_.folder() / attempt_journal,
               adopted_parts(attempt_, fd_.get())),
      blocks_(pool_, [this](Block&& block) { store(std::move(block)); }),
      hasher_(fd_.get(), data_path(), wanted, pool_) {
  for (const RangeSum& part : journal_.content().ranges)
    present_.add(part.range, part.source);
  written_ = present_;
  // Bytes that the journal does not have must not seem present.
  if (present_.bytes() == 0) shorten(fd_.get(), data_path(), 0);
  hasher_.follow(written_.prefix());
  attempt_.discard_at_end();
}

PartialObjectFile::~PartialObjectFile() {
  if (is_discarded_) return;
  for (const auto step : {&PartialObjectFile::flush, &PartialObjectFile::leave}) {
    try {
      (this->*step)();
    } catch (const std::exception&) {
      // Bytes that are not in the file, or have no checksum, are fetched again.
    }
  }
}

void PartialObjectFile::leave() {
  if (present_.bytes() == 0 && !may_have_borrowed_folders(attempt_.folder())) return;
  // A partial that waits for a later attempt reserves no space.
  const bool shortened = ::ftruncate(fd_.get(), static_cast<off_t>(present_.end())) == 0;
  try {
    if (shortened) journal_.sum_rest(fd_.get(), data_path(), present_.list());
  } catch (const Error&) {
    // As above.
  }
  attempt_.leave();
}

void PartialObjectFile::reserve(std::uint64_t size_bytes) {
  if (exceeds_any_file(0, size_bytes)) throw_cannot_store(root_, size_bytes, EFBIG);
  flush();
  borrowed_.clear();
  const auto before = journal_.size_bytes();
  if ((before && *before != size_bytes) || present_.end() > size_bytes) forget_bytes(false);
  journal_.set_size(size_bytes);
  if (size_bytes > 0) allocate(size_bytes);
}

void PartialObjectFile::allocate(std::uint64_t size_bytes) {
  journal_.make_room(size_bytes);
  const int problem = reserve_space(fd_.get(), size_bytes);
  if (problem == 0) return;
  if (problem == EOPNOTSUPP || problem == ENOSYS) {
    check_free_space(root_, size_bytes - std::min(size_bytes, present_.bytes()));
    return;
  }
  // Some file systems keep a partial reservation.
  shorten(fd_.get(), data_path(), present_.end());
  throw_cannot_store(root_, size_bytes, problem);
}

unsigned PartialObjectFile::number_of(const base::ByteSource& source) {
  borrowed_.clear();
  const auto& sources = journal_.sources();
  const auto known = std::ranges::find(sources, source);
  const auto number = static_cast<unsigned>(known - sources.begin());
  if (known != sources.end()) return number;
  flush();
  for (const auto& [range, old] : present_.list()) {
    if (sources[old].url == source.url) forget(range);
  }
  journal_.add_source(source);
  return number;
}

void PartialObjectFile::write_at(std::uint64_t offset_bytes,
                                 base::ByteView bytes,
                                 unsigned source) {
  if (exceeds_any_file(offset_bytes, bytes.size())) throw_cannot_store(root_, bytes.size(), EFBIG);
  borrowed_.clear();
  const auto size_bytes = journal_.size_bytes();
  const ByteRange range = checked_range(offset_bytes, bytes.size(), size_bytes);
  if (sources().empty()) number_of({});
  if (source >= sources().size()) {
    throw Error(ErrorKind::internal,
                "partial file: source " + std::to_string(source) + " has no number");
  }
  if (present_.touches(range)) {
    flush();
    forget(range);
  }
  writing([&] {
    present_.add(range, source);
    const bool is_all = range.begin == 0 && range.end == size_bytes;
    if (is_all && bytes.size() < write_block_bytes) return store({offset_bytes, source, bytes, {}});
    blocks_.add(offset_bytes, bytes, source);
    // Readers wait for the end of the file and for bytes that close a gap.
    if (range.end == size_bytes || present_.touches({range.end, range.end + 1})) {
      blocks_.end_at(range.end);
    }
  });
}

template <class Write>
void PartialObjectFile::writing(Write&& write) {
  try {
    write();
  } catch (...) {
    blocks_.clear();
    present_ = written_;
    throw;
  }
}

void PartialObjectFile::store(Block&& block) {
  const ByteRange range = block.range();
  write_all_at(fd_.get(), block.begin, block.bytes, root_);
  written_.add(range, block.source);
  const bool ends =
      range.end == journal_.size_bytes() || written_.touches({range.end, range.end + 1});
  journal_.add(block.begin, block.bytes, block.source, ends);
  hasher_.follow(written_.prefix(), std::move(block));
}

void PartialObjectFile::flush() {
  writing([this] { blocks_.end_all(); });
}

void PartialObjectFile::forget(ByteRange range) {
  hasher_.rewind(range.begin);
  journal_.forget(range);
  present_.remove(range);
  written_.remove(range);
}

void PartialObjectFile::drop(ByteRange range) {
  borrowed_.clear();
  if (range.begin >= range.end) return;
  const std::uint64_t piece = piece_bytes();
  const ByteRange whole{range.begin / piece * piece, (range.end - 1) / piece * piece + piece};
  if (!present_.touches(whole)) return;
  flush();
  forget(whole);
}

void PartialObjectFile::restart() {
  if (!borrowed_.empty()) attempt_.beneath().remove_tree(borrowed_.parent_path());
  borrowed_.clear();
  forget_bytes(true);
}

void PartialObjectFile::forget_bytes(bool forgets_sources) {
  blocks_.clear();
  hasher_.rewind(0);
  journal_.clear(forgets_sources);
  shorten(fd_.get(), data_path(), 0);
  present_.clear();
  written_.clear();
}

base::DigestMatch PartialObjectFile::matches() {
  const auto actual = wanted_.empty() ? wanted_ : digests();
  return actual.empty() ? base::DigestMatch::unknown : match_of(actual, wanted_);
}

std::vector<base::Digest> PartialObjectFile::digests() {
  if (!borrowed_.empty() || !is_complete(present_, journal_.size_bytes())) return {};
  flush();
  return hasher_.digests();
}

fs::path PartialObjectFile::lend(std::string_view borrower) {
  const fs::path folder = borrowed_folder(attempt_.folder(), borrower);
  attempt_.beneath().make_directories(folder);
  borrowed_ = folder / borrowed_file_name;
  // A file that was sealed but not published is read-only.
  if (fs::is_regular_file(fs::symlink_status(borrowed_)))
    restore_write_mode(attempt_.beneath(), borrowed_);
  return borrowed_;
}

void PartialObjectFile::copy_from(const fs::path& file) {
  const base::UniqueFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!from) base::throw_errno(file.string(), "cannot read", errno);
  std::uint64_t size_bytes = size_of_open(from.get(), file);
  if (share_blocks(from.get(), fd_.get())) {
    size_bytes = size_of_open(fd_.get(), data_path());
    present_.add({0, size_bytes}, number_of({}));
    written_ = present_;
    hasher_.follow(size_bytes);
    return;
  }
  if (size_bytes > 0) allocate(size_bytes);
  std::vector<std::byte> buffer;
  read_range(from.get(), file, {0, size_bytes}, buffer, [this](base::ByteView bytes) {
    write_at(present_.prefix(), bytes);
  });
}

void PartialObjectFile::take_intact(const fs::path& file, const JournalContent& parts) {
  const base::UniqueFd from(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!from) return;
  reserve(parts.size_bytes.value_or(0));
  std::vector<unsigned> numbers;
  for (const base::ByteSource& source : parts.sources)
    numbers.push_back(number_of(source));
  std::vector<std::byte> buffer;
  for (const RangeSum& part : only_intact(from.get(), file, parts).ranges) {
    if (present_.touches(part.range)) continue;
    std::uint64_t at = part.range.begin;
    read_range(from.get(), file, part.range, buffer, [&](base::ByteView bytes) {
      write_at(at, bytes, numbers.at(part.source));
      at += bytes.size();
    });
  }
}

SealedFile PartialObjectFile::seal(const std::vector<base::Digest>& expected) {
  if (!borrowed_.empty()) {
    return sealed_borrowed_file(attempt_.beneath(), borrowed_, root_, expected, is_discarded_);
  }
  check_complete(present_, journal_.size_bytes());
  flush();
  SealedFile sealed{data_path(), present_.end(), {}, {}, {}};
  journal_.sum_rest(fd_.get(), sealed.path, present_.list());
  // Read-only and durable; also frees reserved space that was not used.
  if (::ftruncate(fd_.get(), static_cast<off_t>(sealed.size_bytes)) != 0 ||
      ::fchmod(fd_.get(), 0444) != 0 || ::fsync(fd_.get()) != 0) {
    throw_cannot_store(root_, sealed.size_bytes, errno);
  }
  sealed.status = status_of_open(fd_.get(), sealed.path);
  sealed.parts = journal_.content();
  sealed.parts.size_bytes = sealed.size_bytes;
  const bool computes_all = std::ranges::all_of(
      expected, [this](const base::Digest& digest) { return hasher_.computes(digest.algorithm); });
  sealed.digests = computes_all ? hasher_.digests()
                                : digests_of(fd_.get(), sealed.path, sealed.size_bytes, expected);
  return sealed;
}

}  // namespace sabath::cache
