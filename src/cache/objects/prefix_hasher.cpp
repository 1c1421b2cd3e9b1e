#include "prefix_hasher.hpp"

#include "read_range.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>

namespace sabath::cache {
namespace {

constexpr std::uint64_t small_file_bytes = 4U << 20U;
constexpr std::uint64_t portion_bytes = 1U << 20U;
/// Dropped bytes cost at most this much hashing again. A snapshot has some hundred bytes.
constexpr std::uint64_t snapshot_every_bytes = 64U << 20U;

}  // namespace

PrefixHasher::PrefixHasher(int fd,
                           std::filesystem::path path,
                           const std::vector<base::Digest>& wanted,
                           const BlockPool& pool)
    : fd_(fd), path_(std::move(path)), pool_(pool), digester_(wanted) {}

void PrefixHasher::follow(std::uint64_t prefix_bytes, Block block) {
  if (!thread_.joinable() && prefix_bytes >= small_file_bytes) start();
  if (!thread_.joinable() && block.begin == hashed_bytes_ && block.range().end <= prefix_bytes) {
    prefix_bytes_ = prefix_bytes;
    digester_.update(block.bytes);
    hashed_bytes_ = digester_.bytes();
    return;
  }
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    prefix_bytes_ = prefix_bytes;
    keep(std::move(block));
    wakes = thread_.joinable() && !is_hashing_ && has_work();
  }
  if (wakes) work_.notify_one();
}

/// Keeps the blocks that are needed first.
void PrefixHasher::keep(Block block) {
  if (!block.memory || block.begin < hashed_bytes_) return;
  const std::uint64_t begin = block.begin;
  kept_.insert_or_assign(begin, std::move(block));
  if (kept_.size() > most_kept_blocks || pool_.is_scarce()) kept_.erase(std::prev(kept_.end()));
}

void PrefixHasher::rewind(std::uint64_t offset_bytes) {
  std::unique_lock lock(mutex_);
  prefix_bytes_ = std::min(prefix_bytes_, offset_bytes);
  resting_.wait(lock, [this] { return !is_hashing_; });
  problem_ = nullptr;
  std::erase_if(kept_, [&](const auto& kept) { return kept.second.range().end > offset_bytes; });
  if (digester_.bytes() <= offset_bytes) return;
  while (!snapshots_.empty() && snapshots_.back().bytes() > offset_bytes)
    snapshots_.pop_back();
  if (snapshots_.empty()) {
    digester_.restart();
  } else {
    digester_ = snapshots_.back();
  }
  hashed_bytes_ = digester_.bytes();
}

std::vector<base::Digest> PrefixHasher::digests() {
  if (!thread_.joinable()) {
    std::vector<std::byte> buffer;
    while (hashed_bytes_ < prefix_bytes_) {
      Portion portion = next_portion();
      hash(portion, buffer);
      hashed_bytes_ = digester_.bytes();
    }
    return Digester(digester_).finish();
  }
  std::unique_lock lock(mutex_);
  wants_rest_ = true;
  work_.notify_one();
  resting_.wait(lock, [this] { return !is_hashing_ && (problem_ || !has_work()); });
  wants_rest_ = false;
  if (problem_) std::rethrow_exception(problem_);
  return Digester(digester_).finish();
}

void PrefixHasher::start() {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    // The limit of processes is reached; `digests` does the work.
  }
}

bool PrefixHasher::has_work() const {
  if (problem_ || prefix_bytes_ <= hashed_bytes_) return false;
  return wants_rest_ || prefix_bytes_ - hashed_bytes_ >= portion_bytes;
}

PrefixHasher::Portion PrefixHasher::next_portion() {
  Portion portion{std::min(prefix_bytes_, hashed_bytes_ + portion_bytes), {}};
  std::uint64_t at = hashed_bytes_;
  auto next = kept_.begin();
  while (next != kept_.end() && next->first <= at && next->second.range().end <= portion.end) {
    // An earlier block was read from the file in part.
    if (next->first == at) {
      at = next->second.range().end;
      portion.blocks.push_back(std::move(next->second));
    }
    next = kept_.erase(next);
  }
  if (!portion.blocks.empty()) {
    portion.end = at;
  } else if (next != kept_.end() && next->first > at) {
    portion.end = std::min(portion.end, next->first);
  }
  return portion;
}

void PrefixHasher::run(const std::stop_token& stop) {
  std::vector<std::byte> buffer;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, stop, [this] { return has_work(); });
    if (stop.stop_requested()) return;
    Portion portion = next_portion();
    is_hashing_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      hash(portion, buffer);
    } catch (...) {
      problem = std::current_exception();
    }
    portion.blocks.clear();
    lock.lock();
    is_hashing_ = false;
    problem_ = problem;
    hashed_bytes_ = digester_.bytes();
    resting_.notify_one();
  }
}

void PrefixHasher::hash(Portion& portion, std::vector<std::byte>& buffer) {
  const std::uint64_t begin = digester_.bytes();
  const std::uint64_t last = snapshots_.empty() ? 0 : snapshots_.back().bytes();
  if (begin >= last + snapshot_every_bytes) snapshots_.push_back(digester_);
  const auto update = [this](base::ByteView bytes) { digester_.update(bytes); };
  for (const Block& block : portion.blocks)
    update(block.bytes);
  read_range(fd_, path_, {digester_.bytes(), portion.end}, buffer, update);
  if (digester_.bytes() < portion.end) {
    throw base::Error(base::ErrorKind::storage,
                      path_.string() + ": is shorter than what was written to it");
  }
  // Starts the disk now, so that the final sync is short.
  ::sync_file_range(fd_,
                    static_cast<off64_t>(begin),
                    static_cast<off64_t>(portion.end - begin),
                    SYNC_FILE_RANGE_WRITE);
}

}  // namespace sabath::cache
