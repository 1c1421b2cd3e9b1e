#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/mapped_file.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::probe {

/// A line of /proc/PID/maps (proc(5)) that maps a file to execute it.
struct ExecutableMapping {
  std::uint64_t inode = 0;
  std::string_view path{};  ///< view of the text, without the mark of a deleted file
  bool is_gone = false;     ///< the file was deleted
};

/// Reads the executable mappings. Leaves out devices, shared memory and mappings without a file.
std::vector<ExecutableMapping> executable_mappings(std::string_view maps);

/// Processes of a run's stages and the files that they map. Thread safety: one thread at a time.
class LibraryView {
 public:
  /// Calls `visitor` for each process at each look.
  explicit LibraryView(std::filesystem::path proc, ProcessVisitor visitor = {});

  /// Looks once at the processes beneath the stages (stage -> pid) and at their daemons. Returns
  /// true for new findings.
  bool look(const std::map<std::string, int>& stages);
  bool has_hidden_to_hash() const { return hashing_ || !hidden_.empty(); }
  /// Hashes for about a millisecond.
  void hash_some();
  void note(std::string text);
  /// Returns all findings. `begun` has all stages that were to be watched.
  SeenFiles finish(const std::set<std::string>& begun, double cpu_s);

 private:
  struct Known {
    std::uint64_t virtual_bytes = 0;
    std::uint64_t child_faults = 0;
    bool had_children = false;  ///< that were seen
    std::string stage{};
  };
  using Key = std::pair<std::string, std::uint64_t>;  ///< path and inode of a mapping
  struct Hidden {
    Key key{};
    std::filesystem::path path{};  ///< path through its process
  };
  struct Hashing {
    Key key{};
    base::UniqueFd fd{};
    base::Hasher hasher{};
  };

  void look_beneath(int pid, const std::string& stage, int parent);
  void visit(const base::ProcessStat& stat, const std::string& stage, int parent);
  void look_for_missed(const base::ProcessStat& stat, Known& known);
  void read_maps(int pid, const std::string& stage, bool is_first);
  bool sees_our_files(int pid) const;
  /// Adds a file; null where it cannot be identified.
  MappedFile* add(int pid, bool is_ours, const Key& key);
  void begin_hashing();
  std::string name_of(int pid) const;
  std::filesystem::path folder_of(int pid) const { return proc_ / std::to_string(pid); }

  std::filesystem::path proc_;
  ProcessVisitor visitor_;
  int self_;
  std::optional<base::FileStamp> own_program_;
  std::string own_mounts_;
  bool is_new_ = false;
  std::map<int, Known> processes_{};
  std::set<int> visited_{};  ///< in this look
  std::set<std::string> seen_stages_{};
  std::map<Key, MappedFile> files_{};
  std::set<std::string> notes_{};
  std::deque<Hidden> hidden_{};
  std::optional<Hashing> hashing_{};
};

}  // namespace sabath::probe
