#pragma once

#include "objects/file_status.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/beneath.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

// What a tree's folder holds, held against its manifest.
namespace sabath::cache {

inline constexpr const char* tree_marker = ".sabath-tree.json";

/// One hash over the fingerprints of every file and folder that the manifest names; nothing when
/// one is missing. A folder's own fingerprint gives away files that were added. `seen` gets the
/// fingerprint of each file by its path, of a link to an object that of the object.
std::optional<std::string> tree_fingerprint(
    const std::filesystem::path& root,
    const std::vector<base::ArchiveEntry>& entries,
    std::unordered_map<std::string, std::string>* seen = nullptr);

/// Gives the sha256 of a file whose status was just seen.
using DigestOf = std::function<base::Digest(const std::filesystem::path&, const FileStatus&)>;

/// What is wrong with one entry of the tree at `root`, in a few words; nothing where it is right.
std::optional<std::string> problem_of(const std::filesystem::path& root,
                                      const base::ArchiveEntry& entry,
                                      const DigestOf& digest_of);

/// Adds what lies in the tree's folder and does not belong to it. Throws Error{storage}.
void find_strangers(const std::filesystem::path& root,
                    const std::vector<base::ArchiveEntry>& entries,
                    std::vector<VerifyFinding>& findings);

/// Takes back what `make_read_only` did to the folders, and removes the marker: for what a process
/// left that died while it published.
void make_writable(const base::Beneath& beneath, const std::filesystem::path& root) noexcept;

/// Files become 0444 or 0555, folders beneath `root` 0555.
void make_read_only(const base::Beneath& beneath, const std::filesystem::path& root);

/// Everything beneath `root` survives a power cut: one by one where they are few, else with one
/// syncfs.
void make_durable(const std::filesystem::path& root, std::size_t files);

}  // namespace sabath::cache
