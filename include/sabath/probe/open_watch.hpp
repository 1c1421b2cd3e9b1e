#pragma once

#include <sabath/base/file_stamp.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sabath::probe {

/// A regular file that a process of the run opened.
struct SeenOpen {
  std::string path{};
  base::FileStamp stamp{};  ///< when it was first seen
  std::set<std::string> stages{};
};

struct SeenOpens {
  std::string method{};           ///< spec::every_open or spec::some_opens
  std::vector<SeenOpen> files{};  ///< sorted by path
  std::vector<std::string> notes{};
  std::int64_t began_ns = 0;  ///< when the watch began, by the clock of files
  double cpu_s = 0;           ///< cost of the thread that reads the kernel's reports
};

struct OpenWatchOptions {
  std::filesystem::path proc = "/proc";
  /// Returns true for paths that need not be listed. Called from several threads.
  std::function<bool(const std::string& path)> is_known{};
  bool may_ask_kernel = true;
};

/// Lists the files that the processes of a run's stages open. With CAP_SYS_ADMIN the kernel reports
/// each open on local file systems (fanotify(7)); processes are assigned to stages by their
/// parents. Without it, and on network file systems, `look_at` samples the descriptors of
/// processes.
///
/// Reading the reports takes at most 10 ms and 1 % of one core. Faster reports are lost, which is
/// noted. Never throws; the notes say what could not be seen.
class OpenWatch {
 public:
  /// Starts the kernel's reports.
  explicit OpenWatch(OpenWatchOptions options);
  ~OpenWatch();
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  /// Starts watching a stage; `pid` is its process, a child of this one. From any thread.
  void begin(const std::string& stage, int pid);
  /// Stops watching a stage. From any thread.
  void end(const std::string& stage);
  /// Looks at the open descriptors of a process of a stage. From one thread at a time. Returns true
  /// for a new file that the kernel does not report.
  bool look_at(int pid, const std::string& stage);
  /// Ends the watching and returns all findings. The kernel's clean-up takes some 10 ms and may
  /// outlast this call.
  SeenOpens finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe
