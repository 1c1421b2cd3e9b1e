#pragma once

#include <sabath/probe/library_watch.hpp>

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
  FileStamp stamp{};  ///< when it was first seen
  std::set<std::string> stages{};
};

struct SeenOpens {
  std::string method{};           ///< spec::every_open or spec::some_opens
  std::vector<SeenOpen> files{};  ///< sorted by path
  std::vector<std::string> notes{};
  std::int64_t began_ns = 0;  ///< when the watch began, as the clock of files has it
  double cpu_s = 0;           ///< what the thread for the kernel's reports cost
};

struct OpenWatchOptions {
  std::filesystem::path proc = "/proc";
  /// A file of this path need not be listed. Called from several threads.
  std::function<bool(const std::string& path)> is_known{};
  bool may_ask_kernel = true;
};

/// Lists the files that the processes of a run's stages open. With the capability CAP_SYS_ADMIN the
/// kernel reports each open on every local file system (fanotify(7)); the processes that descend
/// from this one are told apart by their parents. Without it, and on network file systems, the
/// descriptors of processes are looked at now and then (`look_at`).
///
/// Reading the reports takes at most 10 ms and 1 % of one core. Reports that come faster than that
/// are lost, which is noted. Never throws; what cannot be seen is told in the notes.
class OpenWatch {
 public:
  /// The kernel's reports count from here on.
  explicit OpenWatch(OpenWatchOptions options);
  ~OpenWatch();
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  /// A stage's own process runs as `pid`, a child of this one. From any thread.
  void begin(const std::string& stage, int pid);
  /// It has ended. From any thread.
  void end(const std::string& stage);
  /// Looks at the descriptors that a process of a stage has now. From one thread at a time. True
  /// when there was a new file that only looking can find.
  bool look_at(int pid, const std::string& stage);
  /// Ends the watching. The kernel forgets what it was asked while this object lives on, which
  /// takes it some 10 ms.
  SeenOpens finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe
