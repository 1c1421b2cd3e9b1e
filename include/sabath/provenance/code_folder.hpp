#pragma once

#include <sabath/base/tree_digest.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::provenance {

/// Bounds for listing a folder: data or environments beside a recipe must not cause a long wait.
struct CodeLimits {
  std::size_t entries = std::numeric_limits<std::size_t>::max();
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
};

/// The code in a recipe's folder: its files without version control, compiled Python and baselines.
/// A link that leads out of it, except to the system's folders, is replaced by its target: a file,
/// or the files of a folder. Of such a folder with more than 20,000 entries only the name counts;
/// of such files beyond 256 MiB, size and time.
class CodeFolder {
 public:
  /// Throws Error{not_found|storage}.
  explicit CodeFolder(std::filesystem::path folder, const CodeLimits& limits = {});

  /// Sorted by path; a file that a link leads to stands where the link is.
  const std::vector<base::TreeFile>& files() const { return files_; }
  /// Whether the limits were exceeded, and `files` is incomplete.
  bool is_exceeded() const { return entries_ > limits_.entries || bytes_ > limits_.bytes; }
  /// The first link whose target is too large to count by content, or empty.
  const std::string& uncounted() const { return uncounted_; }

  /// base::tree_digest of its files. A memo in `state_directory`, if set, has the digests of large
  /// files that were not changed since. Throws Error{not_found|storage|interrupted}.
  base::Digest digest(const std::filesystem::path& state_directory = {},
                      const std::stop_token& stop = {}) const;
  /// Stamp of each file by path. Sets `is_settled` if any further change would alter a stamp.
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

/// Digest of the current files of the folder.
base::Digest code_digest(const std::filesystem::path& folder,
                         const std::filesystem::path& state_directory = {},
                         const std::stop_token& stop = {});

}  // namespace sabath::provenance
