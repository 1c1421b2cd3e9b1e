#pragma once

#include <sabath/base/tree_digest.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::provenance {

/// How far a folder is looked at: whoever keeps data or environments beside a recipe must not wait
/// for them.
struct CodeLimits {
  std::size_t entries = std::numeric_limits<std::size_t>::max();
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
};

/// The code in a recipe's folder: its files without version control, compiled Python and baselines.
/// A link that leads out of it, but for the system's folders, is what it leads to: a file, or the
/// files of a folder. Such a folder of more than 20,000 entries counts by its name alone, and what
/// is beyond 256 MiB of all such files by size and time.
class CodeFolder {
 public:
  /// Throws Error{not_found|storage}.
  explicit CodeFolder(std::filesystem::path folder, const CodeLimits& limits = {});

  /// Sorted by path; a file that a link leads to stands where the link is.
  const std::vector<base::TreeFile>& files() const { return files_; }
  /// Has it more than the limits? Then `files` are not all.
  bool is_exceeded() const { return entries_ > limits_.entries || bytes_ > limits_.bytes; }
  /// The first link with more behind it than counts by its bytes, or empty.
  const std::string& uncounted() const { return uncounted_; }

  /// base::tree_digest of its files. Large ones that were not touched since they were read are
  /// known by a memo in the user's state folder; without one all are read. Throws
  /// Error{not_found|storage|interrupted}.
  base::Digest digest(const std::filesystem::path& state_directory = {},
                      const std::stop_token& stop = {}) const;
  /// By path, what tells each from what it was before; `is_settled` where another change of any
  /// would show in it.
  std::map<std::string, std::string> stamps(bool& is_settled) const;

 private:
  void follow(const base::TreeFile& link, bool is_own);
  void take_file(std::string path, const std::filesystem::path& target);
  bool take_folder(const std::string& path, const std::filesystem::path& target);
  bool leaves_out(const std::filesystem::directory_entry& entry);

  std::filesystem::path folder_;
  std::filesystem::path root_;  ///< without links
  CodeLimits limits_;
  std::vector<base::TreeFile> files_{};
  std::string uncounted_{};
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t outer_entries_ = 0;
  std::uint64_t outer_bytes_ = 0;
  std::vector<std::filesystem::path> within_{};  ///< folders outside that are being followed
};

/// Of the folder as it is now.
base::Digest code_digest(const std::filesystem::path& folder,
                         const std::filesystem::path& state_directory = {},
                         const std::stop_token& stop = {});

}  // namespace sabath::provenance
