#pragma once

#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/library_watch.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// The kernel's reports of files that any process opens (fanotify(7)).
class OpenEvents {
 public:
  /// Asks for all local file systems of the mount table beneath `proc`. Returns nothing where the
  /// kernel does not allow it.
  static std::optional<OpenEvents> ask(const std::filesystem::path& proc);

  struct Taken {
    bool has_more = false;  ///< there may be further reports
    bool has_lost = false;  ///< some came faster than they were read
  };
  /// Reads up to 64 reports without waiting. `take` gets the descriptor of an opened
  /// file, which is closed after it. Not for opens of this process itself.
  Taken read(const std::function<void(int pid, int fd)>& take);
  /// Asks for no further reports. Those that wait are lost.
  void forget();

  /// To be polled for reading.
  int fd() const { return fd_.get(); }
  /// File systems that are not reported, as "nfs4 at /data".
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  explicit OpenEvents(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
  std::vector<std::string> left_out_{};
};

}  // namespace sabath::probe
