#pragma once

#include "cache_answers.hpp"
#include "commands.hpp"

namespace sabath::cli {

/// Which assets and runs know what is in the cache.
CacheNames names_in(const cache::Inventory& inventory, Workspace& workspace);

// The verbs of `sabath cache` that stand in files of their own.
void setup_cache_pins(CLI::App& group, Action& action);
void setup_cache_gc(CLI::App& group, Action& action);
void setup_cache_repair(CLI::App& group, Action& action);

}  // namespace sabath::cli
