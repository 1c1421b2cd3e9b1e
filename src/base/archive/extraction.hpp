#pragma once

#include "archive_reader.hpp"

#include <sabath/base/archive/archive_entry.hpp>
#include <sabath/base/directory.hpp>
#include <sabath/base/unique_fd.hpp>

#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sabath::base {

/// Writes the entries of one archive beneath a folder and holds them to `ArchiveLimits`. Folders
/// are opened one component at a time without following links, so no entry is ever written through
/// a symbolic link; files are created exclusively, so none is written twice.
class Extraction {
 public:
  Extraction(const std::filesystem::path& archive,
             const Directory& destination,
             const ArchiveLimits& limits,
             std::uint64_t packed_bytes);

  /// Puts one entry in place; `read` gives its content, empty at the end.
  void put(const StatedEntry& stated, const std::function<ByteView()>& read);
  /// Regular files and links, sorted by path.
  std::vector<ArchiveEntry> take_entries();
  /// A path that differs from an earlier one only in the case of letters; empty where none does.
  /// Where file systems do not tell them apart, one of them would be lost.
  const std::string& case_clash() const { return case_clash_; }

 private:
  struct Place {
    int folder = -1;  ///< owned by `folder_`
    std::string name{};
  };

  /// The path made of its plain components; throws when it leads out of the folder.
  std::string safe_path(const StatedEntry& stated, const std::string& path) const;
  Place place_of(const StatedEntry& stated, const std::string& path);
  void open_folder(const StatedEntry& stated, const std::string& path);
  UniqueFd make_or_open(const StatedEntry& stated, int parent, const std::string& name) const;

  void put_file(const StatedEntry& stated,
                const std::string& path,
                const std::function<ByteView()>& read);
  /// Gives a file of an own archive its size, where it ends in a hole, and its mode.
  void finish_own(const StatedEntry& stated, int file, std::uint64_t size) const;
  void put_symbolic_link(const StatedEntry& stated, const std::string& path);
  void put_hard_link(const StatedEntry& stated, const std::string& path);

  void note_case(const std::string& path);
  void count_bytes(const StatedEntry& stated, std::uint64_t size_bytes) const;
  [[noreturn]] void refuse(const StatedEntry& stated,
                           const std::string& cause,
                           const std::string& hint = {}) const;
  [[noreturn]] void fail(const StatedEntry& stated, int code) const;

  std::filesystem::path archive_;
  std::filesystem::path destination_;
  ArchiveLimits limits_;
  std::uint64_t packed_bytes_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t written_bytes_ = 0;
  UniqueFd root_;
  UniqueFd folder_;  ///< the last one that was opened: entries come folder by folder
  std::string folder_path_{};
  std::map<std::string, ArchiveEntry> entries_;
  std::unordered_set<std::size_t> folded_{};  ///< hashes of the paths in lower case
  std::string case_clash_{};
  std::vector<std::pair<std::string, unsigned>> own_folders_{};  ///< with their modes
};

}  // namespace sabath::base
