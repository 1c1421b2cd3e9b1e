#pragma once

#include <sabath/probe/mapped_file.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace sabath::probe {

/// Watches which files the processes of a run's stages map to execute (/proc/PID/maps).
///
/// The first look comes 5 ms after a stage began. After each new finding looks are 5 ms apart
/// again; then each gap is a quarter of the time since that finding, up to 10 s. A file mapped for
/// more than a fifth of that time is not missed. For a process whose address space kept its size
/// only one line is read. All looks together take at most 10 ms and 1 % of one core; with many
/// processes the gaps grow.
///
/// Thread safety: runs in a thread of its own. Never throws; the notes say what could not be seen.
class LibraryWatch {
 public:
  /// `proc` is /proc, or a fake. Calls `visitor` for each process at each look, in the watching
  /// thread.
  explicit LibraryWatch(std::filesystem::path proc = "/proc", ProcessVisitor visitor = {});
  ~LibraryWatch();
  LibraryWatch(const LibraryWatch&) = delete;
  LibraryWatch& operator=(const LibraryWatch&) = delete;

  /// Starts watching a stage; `pid` is its process, a child of this one. From any thread.
  void begin(const std::string& stage, int pid);
  /// Stops watching a stage. From any thread.
  void end(const std::string& stage);
  /// Ends the watching and returns all findings.
  SeenFiles finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe
