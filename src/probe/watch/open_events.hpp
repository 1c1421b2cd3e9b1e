#pragma once

#include <sabath/base/unique_fd.hpp>

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
    bool has_more = false;  ///< further reports may wait
    bool has_lost = false;  ///< reports were lost
  };
  /// Reads up to 64 reports without waiting. Calls `take` with the descriptor of an opened file,
  /// which is closed afterwards. Skips opens of this process.
  Taken read(const std::function<void(int pid, int fd)>& take);
  /// Ends the reports. Waiting ones are lost.
  void forget();

  /// Returns the descriptor to poll for reading.
  int fd() const { return fd_.get(); }
  /// Returns file systems without reports: "nfs4 at /data".
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  explicit OpenEvents(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
  std::vector<std::string> left_out_{};
};

}  // namespace sabath::probe
