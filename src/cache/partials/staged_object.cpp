#include "staged_object.hpp"

#include "gc/lent_folder.hpp"
#include "journal_check.hpp"
#include "objects/file_status.hpp"
#include "objects/placement.hpp"
#include "objects/read_range.hpp"
#include "space.hpp"
#include "trees/staged_tree.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
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

constexpr const char* data_name = "data";
constexpr const char* journal_name = "journal";
constexpr std::uint64_t longest_file = std::numeric_limits<off_t>::max();
constexpr std::uint64_t smallest_piece = 1U << 20U;
constexpr std::uint64_t largest_piece = 64U << 20U;
constexpr std::uint64_t most_pieces = 2048;

/// Whoever died between sealing a file and publishing it has left it read-only.
void make_writable(const base::Beneath& beneath, const fs::path& path) {
  const base::UniqueFd fd = beneath.open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd || ::fchmod(fd.get(), 0600) != 0) base::throw_errno(path.string(), "cannot write", errno);
}

base::UniqueFd open_data(const base::Beneath& beneath, const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT;
  base::UniqueFd fd = beneath.open_file(path, flags, 0600);
  if (!fd && errno == EACCES) {
    make_writable(beneath, path);
    fd = beneath.open_file(path, flags, 0600);
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

JournalContent adopted_parts(const fs::path& folder) {
  const auto journal = read_journal(folder / journal_name);
  return journal ? only_intact(folder / data_name, *journal) : JournalContent{};
}

/// Read-only and durable; also gives back what was reserved in vain.
void settle(int fd, const fs::path& root, std::uint64_t size_bytes) {
  if (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0 || ::fchmod(fd, 0444) != 0 ||
      ::fsync(fd) != 0) {
    throw_cannot_store(root, size_bytes, errno);
  }
}

}  // namespace

StagedObject::StagedObject(fs::path root, Attempt attempt, const std::vector<base::Digest>& wanted)
    : StagedObject(std::move(root), std::move(attempt), wanted, adopted_parts(attempt.folder())) {}

StagedObject::StagedObject(fs::path root,
                           Attempt&& attempt,
                           const std::vector<base::Digest>& wanted,
                           const JournalContent& adopted)
    : root_(std::move(root)),
      attempt_(std::move(attempt)),
      fd_(open_data(attempt_.beneath(), attempt_.folder() / data_name)),
      wanted_(wanted),
      size_bytes_(adopted.size_bytes),
      sources_(adopted.sources),
      journal_(attempt_.beneath(), attempt_.folder() / journal_name, adopted),
      blocks_(pool_, [this](Block&& block) { store(std::move(block)); }),
      hasher_(fd_.get(), attempt_.folder() / data_name, wanted, pool_) {
  for (const RangeSum& part : adopted.ranges) {
    present_.add(part.range, part.source);
    written_.add(part.range, part.source);
    sums_.add_finished(part);
  }
  // What the journal does not have must not seem to be there, above all when a tool's file or a
  // shorter one takes its place.
  if (present_.bytes() == 0 && ::ftruncate(fd_.get(), 0) != 0) {
    base::throw_errno(data_path().string(), "cannot shorten", errno);
  }
  hasher_.follow(written_.prefix());
  attempt_.discard_at_end();
}

StagedObject::~StagedObject() {
  if (is_discarded_) return;
  try {
    flush();
  } catch (const std::exception&) {
    // It is fetched again.
  }
  try {
    leave();
  } catch (const std::exception&) {
    // What has no checksum is fetched again.
  }
}

void StagedObject::leave() {
  if (present_.bytes() == 0 && !may_have_lent_folders(attempt_.folder())) return;
  // Who goes on later keeps no space from others until then.
  const bool shortened = ::ftruncate(fd_.get(), static_cast<off_t>(present_.end())) == 0;
  try {
    if (shortened) sum_all();
  } catch (const Error&) {
    // As above.
  }
  attempt_.leave();
}

void StagedObject::reserve(std::uint64_t size_bytes) {
  if (size_bytes > longest_file) throw_cannot_store(root_, size_bytes, EFBIG);
  flush();
  lent_.clear();
  const bool other_size = size_bytes_ && *size_bytes_ != size_bytes;
  if (other_size || present_.end() > size_bytes) forget_bytes();
  if (size_bytes_ != size_bytes) {
    size_bytes_ = size_bytes;
    journal_.note_size(size_bytes);
    std::vector<RangeSum> finished;
    sums_.close_at(size_bytes, finished);
    journal_.note(finished);
  }
  if (size_bytes > 0) allocate(size_bytes);
}

void StagedObject::allocate(std::uint64_t size_bytes) {
  if (size_bytes > piece_bytes()) journal_.make_room(size_bytes / piece_bytes() + 64);
  // The size stays what was written, so that what a crash leaves is no longer than its bytes.
  int result = 0;
  do {
    result = ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const int problem = errno;
  if (problem == EOPNOTSUPP || problem == ENOSYS) {
    check_free_space(root_, size_bytes - std::min(size_bytes, present_.bytes()));
    return;
  }
  // Some file systems keep what they could reserve; others need it more.
  if (::ftruncate(fd_.get(), static_cast<off_t>(present_.end())) != 0) {
    base::throw_errno(data_path().string(), "cannot shorten", errno);
  }
  throw_cannot_store(root_, size_bytes, problem);
}

std::uint64_t StagedObject::piece_bytes() const {
  if (!size_bytes_) return smallest_piece;
  const std::uint64_t least = (*size_bytes_ + most_pieces - 1) / most_pieces;
  return std::clamp(std::bit_ceil(least), smallest_piece, largest_piece);
}

unsigned StagedObject::number_of(const base::ByteSource& source) {
  lent_.clear();
  const auto known = std::find(sources_.begin(), sources_.end(), source);
  const auto number = static_cast<unsigned>(known - sources_.begin());
  if (known != sources_.end()) return number;
  flush();
  for (const auto& [range, old] : present_.list()) {
    if (sources_[old].url == source.url) forget(range);
  }
  journal_.note_source(number, source);
  sources_.push_back(source);
  return number;
}

void StagedObject::write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) {
  if (bytes.size() > longest_file || offset_bytes > longest_file - bytes.size()) {
    throw_cannot_store(root_, bytes.size(), EFBIG);
  }
  lent_.clear();
  const ByteRange range{offset_bytes, offset_bytes + bytes.size()};
  if (size_bytes_ && range.end > *size_bytes_) {
    throw Error(ErrorKind::integrity,
                "staged file: gets bytes up to " + std::to_string(range.end) + ", but has only " +
                    std::to_string(*size_bytes_));
  }
  if (sources_.empty()) number_of({});
  if (source >= sources_.size()) {
    throw Error(ErrorKind::internal,
                "staged file: source " + std::to_string(source) + " has no number");
  }
  if (present_.touches(range)) {
    flush();
    forget(range);
  }
  writing([&] {
    present_.add(range, source);
    const bool is_all = range.begin == 0 && range.end == size_bytes_;
    if (is_all && bytes.size() < write_block_bytes) return store({offset_bytes, source, bytes, {}});
    blocks_.add(offset_bytes, bytes, source);
    // What others wait for: the end, and what closes a gap.
    if (range.end == size_bytes_ || present_.touches({range.end, range.end + 1})) {
      blocks_.end_at(range.end);
    }
  });
}

template <class Write>
void StagedObject::writing(Write&& write) {
  try {
    write();
  } catch (...) {
    blocks_.clear();
    present_ = written_;
    throw;
  }
}

void StagedObject::store(Block&& block) {
  const ByteRange range = block.range();
  put(block.begin, block.bytes);
  written_.add(range, block.source);
  std::vector<RangeSum> finished;
  sums_.add(block.begin, block.bytes, block.source, piece_bytes(), finished);
  const bool ends = range.end == size_bytes_ || written_.touches({range.end, range.end + 1});
  if (ends) sums_.close_at(range.end, finished);
  journal_.note(finished);
  hasher_.follow(written_.prefix(), std::move(block));
}

void StagedObject::flush() {
  writing([this] { blocks_.end_all(); });
}

void StagedObject::put(std::uint64_t offset_bytes, base::ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_cannot_store(root_, bytes.size(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset_bytes += static_cast<std::uint64_t>(put);
  }
}

void StagedObject::forget(ByteRange range) {
  hasher_.rewind(range.begin);
  journal_.note_drop(range);
  sums_.forget(range);
  present_.remove(range);
  written_.remove(range);
}

void StagedObject::drop(ByteRange range) {
  lent_.clear();
  if (range.begin >= range.end) return;
  const std::uint64_t piece = piece_bytes();
  const ByteRange whole{range.begin / piece * piece, (range.end - 1) / piece * piece + piece};
  if (!present_.touches(whole)) return;
  flush();
  forget(whole);
}

void StagedObject::restart() {
  if (!lent_.empty()) attempt_.beneath().remove_tree(lent_.parent_path());
  lent_.clear();
  sources_.clear();
  forget_bytes();
}

void StagedObject::forget_bytes() {
  blocks_.clear();
  hasher_.rewind(0);
  journal_.clear();
  for (std::size_t i = 0; i < sources_.size(); ++i)
    journal_.note_source(i, sources_[i]);
  if (::ftruncate(fd_.get(), 0) != 0) {
    base::throw_errno(data_path().string(), "cannot shorten", errno);
  }
  present_.clear();
  written_.clear();
  sums_ = {};
  size_bytes_.reset();
}

bool StagedObject::is_complete() const {
  return present_.prefix() == present_.end() &&
         present_.prefix() == size_bytes_.value_or(present_.end());
}

base::DigestMatch StagedObject::matches() {
  if (wanted_.empty() || !lent_.empty() || !is_complete()) return base::DigestMatch::unknown;
  flush();
  const auto actual = hasher_.digests();
  const bool all = std::all_of(wanted_.begin(), wanted_.end(), [&](const base::Digest& digest) {
    return std::find(actual.begin(), actual.end(), digest) != actual.end();
  });
  return all ? base::DigestMatch::right : base::DigestMatch::wrong;
}

std::vector<base::Digest> StagedObject::digests() {
  if (!lent_.empty() || !is_complete()) return {};
  flush();
  return hasher_.digests();
}

fs::path StagedObject::lend(std::string_view borrower) {
  const fs::path folder = lent_folder(attempt_.folder(), borrower);
  attempt_.beneath().make_directories(folder);
  lent_ = folder / lent_file_name;
  // One that was sealed and could not be published is read-only.
  if (fs::is_regular_file(fs::symlink_status(lent_))) make_writable(attempt_.beneath(), lent_);
  return lent_;
}

fs::path StagedObject::data_path() const {
  return attempt_.folder() / data_name;
}

void StagedObject::copy_from(const fs::path& file) {
  const base::UniqueFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!from) base::throw_errno(file.string(), "cannot read", errno);
  std::uint64_t size_bytes = size_of(from.get(), file);
  if (share_blocks(from.get(), fd_.get())) {
    size_bytes = size_of(fd_.get(), data_path());
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

void StagedObject::take_intact(const fs::path& file, const JournalContent& parts) {
  const base::UniqueFd from(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!from) return;
  reserve(parts.size_bytes.value_or(0));
  std::vector<unsigned> numbers;
  for (const base::ByteSource& source : parts.sources)
    numbers.push_back(number_of(source));
  std::vector<std::byte> buffer;
  for (const RangeSum& part : only_intact(file, parts).ranges) {
    if (present_.touches(part.range)) continue;
    std::uint64_t at = part.range.begin;
    read_range(from.get(), file, part.range, buffer, [&](base::ByteView bytes) {
      write_at(at, bytes, numbers.at(part.source));
      at += bytes.size();
    });
  }
}

void StagedObject::sum_all() {
  std::vector<RangeSum> finished;
  sums_.close_all(finished);
  std::vector<std::byte> buffer;
  for (const auto& [range, source] : sums_.lacking(present_.list(), piece_bytes())) {
    Summer summer;
    read_range(fd_.get(), data_path(), range, buffer, [&summer](base::ByteView bytes) {
      summer.update(bytes);
    });
    const RangeSum part{range, source, summer.sum()};
    sums_.add_finished(part);
    finished.push_back(part);
  }
  journal_.note(finished);
}

SealedFile StagedObject::seal(const std::vector<base::Digest>& expected) {
  if (!lent_.empty()) {
    return seal_lent(expected);
  }
  if (!is_complete()) {
    throw Error(ErrorKind::integrity,
                "staged file: is incomplete: nothing was written at byte " +
                    std::to_string(present_.prefix()) + " of " +
                    std::to_string(size_bytes_.value_or(present_.end())));
  }
  flush();
  SealedFile sealed{data_path(), present_.end(), {}, {}, {}};
  sum_all();
  settle(fd_.get(), root_, sealed.size_bytes);
  if (::fstat(fd_.get(), &sealed.status) != 0)
    base::throw_errno(data_path().string(), "cannot read", errno);
  sealed.parts = {sealed.size_bytes, sources_, sums_.finished()};
  const bool computes_all =
      std::all_of(expected.begin(), expected.end(), [this](const base::Digest& digest) {
        return hasher_.computes(digest.algorithm);
      });
  if (computes_all) {
    sealed.digests = hasher_.digests();
  } else {
    PrefixHasher anew(fd_.get(), data_path(), expected, pool_);
    anew.follow(sealed.size_bytes);
    sealed.digests = anew.digests();
  }
  return sealed;
}

SealedFile StagedObject::seal_lent(const std::vector<base::Digest>& expected) {
  const base::UniqueFd fd = attempt_.beneath().open_file(lent_, O_RDONLY | O_NONBLOCK);
  const int problem = errno;
  // A tool may have put a link, or something else, in the place of the file: that is worth nothing.
  FileStatus status{};
  is_discarded_ = fd ? ::fstat(fd.get(), &status) == 0 && !S_ISREG(status.st_mode)
                     : problem == ELOOP || problem == ENXIO;
  if (!fd) base::throw_errno(lent_.string(), "cannot read", problem);
  SealedFile sealed{lent_, size_of(fd.get(), lent_), {}, {}, {}};
  sealed.parts.size_bytes = sealed.size_bytes;
  sealed.parts.sources.emplace_back();
  const std::uint64_t piece =
      std::clamp(std::bit_ceil(sealed.size_bytes / most_pieces + 1), smallest_piece, largest_piece);
  Digester digester(expected);
  RunSums sums;
  std::vector<std::byte> buffer;
  read_range(fd.get(), lent_, {0, sealed.size_bytes}, buffer, [&](base::ByteView bytes) {
    sums.add(digester.bytes(), bytes, 0, piece, sealed.parts.ranges);
    digester.update(bytes);
  });
  sums.close_all(sealed.parts.ranges);
  if (digester.bytes() != sealed.size_bytes) {
    throw Error(ErrorKind::storage, lent_.string() + ": changes while it is read");
  }
  if (::fchmod(fd.get(), 0444) != 0 || ::fsync(fd.get()) != 0) {
    throw_cannot_store(root_, sealed.size_bytes, errno);
  }
  if (::fstat(fd.get(), &sealed.status) != 0)
    base::throw_errno(lent_.string(), "cannot read", errno);
  sealed.digests = digester.finish();
  return sealed;
}

std::uint64_t adoptable_bytes(const Attempt& attempt) {
  const auto journal = read_journal(attempt.folder() / journal_name);
  std::uint64_t bytes = journal ? journal->range_bytes() : 0;
  bytes += bytes_beneath(attempt.folder() / staged_tree_name);
  for (const fs::path& folder : lent_folders(attempt.folder()))
    bytes = std::max(bytes, std::max<std::uint64_t>(bytes_beneath(folder), 1));
  return bytes;
}

}  // namespace sabath::cache
