#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::probe {

/// What tells a file from another and from what it was before.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
  /// Without the device: of a network's file system that is another number after each boot.
  std::string text() const;
  /// Was it last changed so long ago that another change would show in its times?
  bool is_settled() const;
};
/// Nothing for what is no regular file, or not there.
std::optional<FileStamp> stamp_of(const std::filesystem::path& file);

/// A program or shared library that a process of the run had mapped to execute it.
struct MappedFile {
  std::string path{};       ///< as the process saw it
  FileStamp stamp{};        ///< when it was first seen
  bool is_program = false;  ///< it was what a process executed
  bool is_first = false;    ///< of the process that a stage began with
  std::set<std::string> stages{};
  /// Another file, or none, is found under this path from outside of the process's container or
  /// namespace. Then the next two were read while it lived, if there was time for it.
  bool is_hidden = false;
  std::optional<base::Digest> digest{};
  std::string build_id{};
};

struct SeenFiles {
  std::vector<MappedFile> files{};  ///< sorted by path
  std::vector<std::string> notes{};
  double cpu_s = 0;  ///< what looking cost
};

/// Looks further at a process of a stage that lives. True when there was something new.
using ProcessVisitor = std::function<bool(int pid, const std::string& stage)>;

/// Looks at what the processes of a run's stages have mapped to execute (/proc/PID/maps), while
/// they live.
///
/// The first look comes 5 ms after a stage began. Whenever something new was seen the looks are 5
/// ms apart again, and from then on each comes a quarter of the time since later, up to 10 s: what
/// was mapped for more than a fifth of that time is not missed. Of a process whose address space
/// has the size that it had only a line is read. All looks together take at most 10 ms and 1 % of
/// one core: when there are so many processes that they would need more, looks are further apart.
///
/// Runs in a thread of its own. Never throws; what cannot be seen is told in the notes.
class LibraryWatch {
 public:
  /// `proc` is /proc, or a fake. `visitor` is called for each process at each look, in the thread
  /// of the watch.
  explicit LibraryWatch(std::filesystem::path proc = "/proc", ProcessVisitor visitor = {});
  ~LibraryWatch();
  LibraryWatch(const LibraryWatch&) = delete;
  LibraryWatch& operator=(const LibraryWatch&) = delete;

  /// A stage's own process runs as `pid`, a child of this one. From any thread.
  void begin(const std::string& stage, int pid);
  /// It has ended. From any thread.
  void end(const std::string& stage);
  /// Ends the watching.
  SeenFiles finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe
