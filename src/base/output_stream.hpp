#pragma once

#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sabath::base {

/// One output stream of a command: a file that the child appends to by itself and whose
/// growth is looked at, or a pipe whose last bytes are kept.
class OutputStream {
 public:
  /// An empty `path` means a pipe. Throws Error{storage} when the file cannot be opened.
  OutputStream(const std::filesystem::path& path, std::size_t capture_limit);

  bool is_file() const noexcept { return !pipe_; }
  /// What the child writes to.
  int child_end() const noexcept { return child_end_.get(); }
  /// The child has it now: closes our copy of a pipe's end, so that its last writer's end is seen.
  void started() noexcept;
  /// Readable when there is something to `look` at; -1 for a file and for a pipe that has ended.
  int readable() const noexcept { return pipe_.get(); }

  /// Takes in what has come, a bounded amount at a time. True when there was something new.
  bool look();
  /// Takes in what a pipe still holds when its writers have been ended. A process that escaped and
  /// keeps it open, or even continues to write, cannot delay this.
  void drain();

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// The last bytes, at most `capture_limit`.
  std::string take_tail();

 private:
  void keep(const char* data, std::size_t size);

  UniqueFd pipe_;
  UniqueFd child_end_;
  bool captured_ = false;
  std::uint64_t first_size_ = 0;  ///< of the file
  std::uint64_t last_size_ = 0;   ///< of the file, when it was looked at last
  std::uint64_t bytes_ = 0;
  std::size_t capture_limit_ = 0;
  std::string tail_;  ///< up to twice the limit, so that its front is seldom cut off
};

}  // namespace sabath::base
