#include "output_stream.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

constexpr std::size_t chunk_bytes = 1U << 16U;

std::uint64_t size_of_file(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return 0;
  return static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
}

}  // namespace

OutputStream::OutputStream(const std::filesystem::path& path, std::size_t capture_limit)
    : captured_(path.empty()), capture_limit_(capture_limit) {
  if (captured_) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe", "cannot open", errno);
    pipe_.reset(ends[0]);
    child_end_.reset(ends[1]);
    ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
    return;
  }
  child_end_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!child_end_) {
    throw Error(ErrorKind::storage,
                path.string() + ": cannot write the command's output: " + errno_text(errno));
  }
  first_size_ = size_of_file(child_end_.get());
  last_size_ = first_size_;
}

void OutputStream::started() noexcept {
  if (captured_) child_end_.reset();
}

bool OutputStream::look() {
  const std::uint64_t before = bytes_;
  if (!captured_) {
    const std::uint64_t size = size_of_file(child_end_.get());
    if (size < last_size_) first_size_ = 0;  // the command opened it anew and cut it off
    const bool changed = size != last_size_;
    last_size_ = size;
    bytes_ = std::max(bytes_, size > first_size_ ? size - first_size_ : 0);
    return changed;
  }
  std::array<char, chunk_bytes> chunk;
  for (int round = 0; round < 16 && pipe_; ++round) {
    const ssize_t got = ::read(pipe_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      pipe_.reset();
      break;
    }
    keep(chunk.data(), static_cast<std::size_t>(got));
  }
  return bytes_ > before;
}

void OutputStream::drain() {
  if (!captured_) {
    look();
    return;
  }
  const int capacity = pipe_ ? ::fcntl(pipe_.get(), F_GETPIPE_SZ) : 0;
  const std::uint64_t most = bytes_ + static_cast<std::uint64_t>(std::max(capacity, 0));
  while (bytes_ < most && look()) {
  }
  pipe_.reset();
}

void OutputStream::keep(const char* data, std::size_t size) {
  bytes_ += size;
  tail_.append(data, size);
  if (tail_.size() > 2 * capture_limit_ + chunk_bytes) {
    tail_.erase(0, tail_.size() - capture_limit_);
  }
}

std::string OutputStream::take_tail() {
  if (tail_.size() > capture_limit_) tail_.erase(0, tail_.size() - capture_limit_);
  return std::move(tail_);
}

}  // namespace sabath::base
