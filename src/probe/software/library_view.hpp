#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/library_watch.hpp>

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

struct stat;

namespace sabath::probe {

FileStamp stamp_from(const struct stat& status);

/// What is known of the processes of a run's stages and of the files that they map. One thread at a
/// time.
class LibraryView {
 public:
  /// `visitor` is called for each process at each look.
  explicit LibraryView(std::filesystem::path proc, ProcessVisitor visitor = {});

  /// Looks once at the processes beneath the stages' own (stage -> pid) and at daemons of theirs.
  /// True when there was something new.
  bool look(const std::map<std::string, int>& stages);
  bool has_hidden_to_hash() const { return hashing_ || !hidden_.empty(); }
  /// Goes on for a millisecond or so.
  void hash_some();
  void note(std::string text);
  /// `begun`: all stages whose processes were to be looked at.
  SeenFiles finish(const std::set<std::string>& begun, double cpu_s);

 private:
  struct Known {
    std::uint64_t virtual_bytes = 0;
    std::uint64_t child_faults = 0;
    bool had_children = false;  ///< that were looked at
    std::string stage{};
  };
  using Key = std::pair<std::string, std::uint64_t>;  ///< path and inode of a mapping
  struct Hidden {
    Key key{};
    std::filesystem::path path{};  ///< as it is seen through its process
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
  /// Null where it is not known which file it is.
  MappedFile* add(int pid, bool is_ours, const Key& key);
  void begin_hashing();
  std::string name_of(int pid) const;
  std::filesystem::path folder_of(int pid) const { return proc_ / std::to_string(pid); }

  std::filesystem::path proc_;
  ProcessVisitor visitor_;
  int self_;
  std::optional<FileStamp> own_program_;
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
