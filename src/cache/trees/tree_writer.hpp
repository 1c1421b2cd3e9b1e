#pragma once

#include "objects/small_file.hpp"
#include "partials/journal_file.hpp"

#include <sabath/cache/partial.hpp>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace sabath::cache {

// The journal of a partial tree has a line for each finished file.
using FinishedFiles = std::map<std::string, FinishedFile>;

std::string finished_lines(const FinishedFiles& files);
std::string tree_journal_text(const FinishedFiles& files);
/// Ignores a torn last line. Returns nothing for a file that is missing, damaged or of another
/// version. Throws Error{storage} for an unreadable file.
FinishedFiles read_tree_journal(const base::Beneath& beneath, const std::filesystem::path& path);

/// A thread that writes the complete files of a tree to their places and notes them in its journal.
/// Making a file takes about as long as receiving a small one, so both run at the same time. Where
/// no thread can be made, the caller writes.
///
/// Thread safety: one caller. `mutex_` guards shared members; the journal belongs to the thread.
class TreeWriter {
 public:
  /// Files that wait for the thread, which has taken as many at most. A kill loses no more.
  static constexpr std::size_t most_waiting = 8;

  explicit TreeWriter(JournalFile& journal) : journal_(journal) {}
  ~TreeWriter() = default;
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;

  /// Takes a complete file; waits while too many wait. Throws the error of an earlier file, on this
  /// call and all later ones.
  void put(const std::string& path, std::unique_ptr<SmallFile> file, const FinishedFile& finished);
  /// Waits until all files are in their places and noted. Throws as `put`.
  void settle();
  /// As `settle`, and ends the thread. Files that could not be written are not noted.
  void end() noexcept { thread_ = {}; }

 private:
  struct Job {
    std::unique_ptr<SmallFile> file{};
    std::string path{};
    FinishedFile finished{};
  };
  using Jobs = std::vector<Job>;

  void run(const std::stop_token& stop);
  void write(Jobs jobs);
  void check() const;

  JournalFile& journal_;
  std::mutex mutex_{};
  std::condition_variable_any work_{};  ///< there are files, or the end
  std::condition_variable resting_{};   ///< those that were taken are written
  Jobs waiting_{};
  bool is_writing_ = false;
  std::exception_ptr problem_{};
  std::jthread thread_{};  ///< last: it ends before what it uses
};

}  // namespace sabath::cache
