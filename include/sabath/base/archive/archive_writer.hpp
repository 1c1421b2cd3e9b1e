#pragma once

#include <sabath/base/archive/archive_entry.hpp>
#include <sabath/base/directory.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/tree_digest.hpp>

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::base {

/// Writes files and symbolic links beneath `root` as a gzipped tar: the same bytes for the same
/// tree, without owners and times; durable. `to` must not exist; only the user may read it (0600).
/// Reads each file into memory. Throws Error{usage} for a name or a link that extract_archive
/// refuses, Error{storage|not_found}; then removes `to`.
void write_archive(const std::filesystem::path& root,
                   const std::vector<TreeFile>& files,
                   const std::filesystem::path& to);

/// Packs a directory as a tar with zstd: the same bytes for the same directory, without owners and
/// times; durable. Keeps empty directories, holes as zeros, links wherever they lead, and hard
/// links among its own files. Leaves out these names at the top. `to` must not exist; only the user
/// may read it. Returns what read_archive finds in it. Throws Error{usage} for a name that
/// extract_archive refuses and for a pipe or a device, Error{storage}, also for a file that changes
/// meanwhile, and Error{interrupted}; then removes `to`.
std::vector<ArchiveEntry> pack_directory(const Directory& directory,
                                         const std::set<std::string>& left_out,
                                         const std::filesystem::path& to,
                                         Observer& observer,
                                         std::stop_token stop = {});

}  // namespace sabath::base
