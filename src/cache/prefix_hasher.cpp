#include "prefix_hasher.hpp"

#include "read_range.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fcntl.h>

namespace sabath::cache {
namespace {

constexpr std::uint64_t small_file_bytes = 4U << 20U;
constexpr std::uint64_t block_bytes = 1U << 20U;
/// What is dropped costs at most so much hashing again; a snapshot has some hundred bytes.
constexpr std::uint64_t snapshot_every_bytes = 64U << 20U;

}  // namespace

PrefixHasher::PrefixHasher(int fd,
                           std::filesystem::path path,
                           const std::vector<base::Digest>& wanted)
    : fd_(fd), path_(std::move(path)), digester_(wanted) {}

PrefixHasher::~PrefixHasher() {
  if (!is_threaded_) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void PrefixHasher::follow(std::uint64_t offset_bytes,
                          base::ByteView bytes,
                          std::uint64_t prefix_bytes) {
  if (!is_threaded_ && prefix_bytes >= small_file_bytes) start();
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    prefix_bytes_ = prefix_bytes;
    wakes = is_threaded_ && !is_hashing_ && has_work();
  }
  if (wakes) work_.notify_one();
  if (!is_threaded_ && offset_bytes == digester_.bytes() && offset_bytes < prefix_bytes) {
    digester_.update(bytes);
    hashed_bytes_ = digester_.bytes();
  }
}

void PrefixHasher::rewind(std::uint64_t offset_bytes) {
  std::unique_lock lock(mutex_);
  prefix_bytes_ = std::min(prefix_bytes_, offset_bytes);
  resting_.wait(lock, [this] { return !is_hashing_; });
  problem_ = nullptr;
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
  if (!is_threaded_) {
    std::vector<std::byte> buffer;
    hash_until(prefix_bytes_, buffer);
    hashed_bytes_ = digester_.bytes();
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
    thread_ = std::thread([this] { run(); });
    is_threaded_ = true;
  } catch (const std::system_error&) {
    // The limit of processes is reached; `digests` does the work.
  }
}

bool PrefixHasher::has_work() const {
  if (problem_ || prefix_bytes_ <= hashed_bytes_) return false;
  return wants_rest_ || prefix_bytes_ - hashed_bytes_ >= block_bytes;
}

void PrefixHasher::run() {
  std::vector<std::byte> buffer;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ends_ || has_work(); });
    if (ends_) return;
    const auto end = std::min(prefix_bytes_, hashed_bytes_ + block_bytes);
    is_hashing_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      hash_until(end, buffer);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    is_hashing_ = false;
    problem_ = problem;
    hashed_bytes_ = digester_.bytes();
    resting_.notify_one();
  }
}

void PrefixHasher::hash_until(std::uint64_t end_bytes, std::vector<std::byte>& buffer) {
  const std::uint64_t begin = digester_.bytes();
  if (begin >= end_bytes) return;
  const std::uint64_t last = snapshots_.empty() ? 0 : snapshots_.back().bytes();
  if (begin >= last + snapshot_every_bytes) snapshots_.push_back(digester_);
  read_range(fd_, path_, {begin, end_bytes}, buffer, [this](base::ByteView bytes) {
    digester_.update(bytes);
  });
  if (digester_.bytes() < end_bytes) {
    throw base::Error(base::ErrorKind::storage,
                      path_.string() + ": is shorter than what was written to it");
  }
  // The disk may begin now, so that the sync at the end has little left to do.
  ::sync_file_range(fd_,
                    static_cast<off64_t>(begin),
                    static_cast<off64_t>(end_bytes - begin),
                    SYNC_FILE_RANGE_WRITE);
}

}  // namespace sabath::cache
