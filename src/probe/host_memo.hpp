#pragma once

#include <sabath/spec/host_facts.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::probe {

/// The facts that were kept under `path`, if the file is this user's own, nobody else can write it,
/// it reads, and `witness` is what it was when they were kept; else nothing.
std::optional<spec::HostFacts> read_host_memo(const std::filesystem::path& path,
                                              const std::string& witness);

/// Keeps `facts` under `path`. Throws Error{storage}.
void write_host_memo(const std::filesystem::path& path,
                     const std::string& witness,
                     const spec::HostFacts& facts);

/// Removes what was kept in `folder` a month ago or earlier: boots end, and nobody tells us.
void forget_old_memos(const std::filesystem::path& folder);

}  // namespace sabath::probe
