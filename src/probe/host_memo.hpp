#pragma once

#include <sabath/spec/host_facts.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::probe {

/// Reads facts kept under `path`. Nothing unless the file is readable, belongs to this user alone,
/// and has the same `witness`.
std::optional<spec::HostFacts> read_host_memo(const std::filesystem::path& path,
                                              const std::string& witness);

/// Keeps `facts` under `path`. Throws Error{storage}.
void write_host_memo(const std::filesystem::path& path,
                     const std::string& witness,
                     const spec::HostFacts& facts);

/// Removes memos in `folder` that are a month old: those of earlier boots.
void forget_old_memos(const std::filesystem::path& folder);

}  // namespace sabath::probe
