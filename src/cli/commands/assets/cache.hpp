#pragma once

#include "commands.hpp"

#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sabath::cli {

/// What else than the cache itself knows of what lies in it.
struct CacheNames {
  std::map<base::Digest, std::vector<std::string>> assets{};
  std::map<base::Digest, std::vector<std::string>> runs{};

  /// The name of an asset, else a URL, else nothing.
  std::string origin_of(const cache::Stored& stored) const;
};

/// One line of `cache du`.
struct UsageRow {
  std::string cache{};  ///< the root
  std::string what{};   ///< "asset", "source", "tree", "object", "environment", "partial", ...
  std::string name{};
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;
};

/// The answers as JSON documents, for --json.
std::string json_answer(const std::vector<const cache::Stored*>& stored, const CacheNames& names);
std::string json_answer(const std::vector<UsageRow>& rows,
                        const std::map<std::string, std::uint64_t>& totals);
std::string json_answer(const std::vector<cache::Pin>& pins);
std::string json_answer(const cache::GarbageReport& report, bool dry_run);
std::string json_answer(const std::vector<assets::Repaired>& repaired);

/// Which assets and runs know what is in the cache.
CacheNames names_in(const cache::Inventory& inventory, Workspace& workspace);

// The verbs of `sabath cache` that stand in files of their own.
void setup_cache_pins(OptionParser& group, Action& action);
void setup_cache_gc(OptionParser& group, Action& action);
void setup_cache_repair(OptionParser& group, Action& action);

}  // namespace sabath::cli
