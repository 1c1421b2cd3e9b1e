#pragma once

#include "objects/small_file.hpp"
#include "tree_journal.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sabath::cache {

/// Puts the complete files of a tree in their places and notes them in its journal, on a thread of
/// its own: to make a file costs about as much as to receive a small one, and both can go on at the
/// same time. Where no thread can be had, the caller does it.
///
/// Threads: one caller. `mutex_` guards what both use; the journal belongs to the thread.
class TreeWriter {
 public:
  /// So many wait for the thread, which has taken as many at most: who is killed loses no more.
  static constexpr std::size_t most_waiting = 8;

  explicit TreeWriter(TreeJournal& journal) : journal_(journal) {}
  ~TreeWriter() { end(); }
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;

  /// Takes a file that is complete; waits while there are too many. What an earlier file met is
  /// thrown, now and ever after.
  void put(const std::string& path, std::unique_ptr<SmallFile> file, const FinishedFile& finished);
  /// Waits until all are in their places and noted. Throws as `put`.
  void settle();
  /// As `settle`, and nothing can be put any more. What could not be written is not noted.
  void end() noexcept;

 private:
  struct Job {
    std::unique_ptr<SmallFile> file{};
    std::string path{};
    FinishedFile finished{};
  };
  using Jobs = std::vector<Job>;

  void run();
  void write(Jobs jobs);
  void check() const;

  TreeJournal& journal_;
  std::mutex mutex_{};
  std::condition_variable work_{};     ///< there are files, or the end
  std::condition_variable resting_{};  ///< those that were taken are written
  Jobs waiting_{};
  bool is_writing_ = false;
  bool ends_ = false;
  std::exception_ptr problem_{};
  std::thread thread_{};
};

}  // namespace sabath::cache
