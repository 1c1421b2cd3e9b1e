#pragma once

#include "objects/file_status.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/beneath.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/cache/content.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

// The files of a tree, compared with its manifest.
namespace sabath::cache {

inline constexpr const char* tree_marker = base::tree_mark;

/// The statuses that a tree's fingerprint is made of.
struct SeenInTree {
  /// Of each file by its path; of a link to an object that of the object.
  std::unordered_map<std::string, std::string> fingerprints{};
  std::set<unsigned> owners{};  ///< of all files, objects and folders
};

/// One hash over the fingerprints of every file and folder that the manifest names; nothing when
/// one is missing. A folder's own fingerprint gives away files that were added.
std::optional<std::string> tree_fingerprint(const std::filesystem::path& root,
                                            const std::vector<base::ArchiveEntry>& entries,
                                            SeenInTree* seen = nullptr);

/// Returns the sha256 of a file with this status.
using DigestOf = std::function<base::Digest(const std::filesystem::path&, const FileStatus&)>;

/// Returns the problem of one entry of the tree at `root`; nothing where it is right.
std::optional<std::string> problem_of(const std::filesystem::path& root,
                                      const base::ArchiveEntry& entry,
                                      const DigestOf& digest_of);

/// Adds files that do not belong to the tree at `root`. Throws Error{storage}.
void find_strangers(const std::filesystem::path& root,
                    const std::vector<base::ArchiveEntry>& entries,
                    std::vector<VerifyFinding>& findings);

/// Undoes `make_read_only` for folders and removes the marker, after a process died while it
/// published.
void make_writable(const base::Beneath& beneath, const std::filesystem::path& root) noexcept;

/// Sets files to 0444 or 0555 and folders beneath `root` to 0555.
void make_read_only(const base::Beneath& beneath, const std::filesystem::path& root);

/// Makes everything beneath `root` survive a power cut: syncs a few files one by one, else uses
/// one syncfs.
void make_durable(const std::filesystem::path& root, std::size_t files);

}  // namespace sabath::cache
