#pragma once

#include "cache_state.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/content.hpp>

#include <map>
#include <stop_token>
#include <string>
#include <vector>

// Trees made of archives and objects; see the members of Cache.
namespace sabath::cache {

Tree publish_archives_tree(CacheState& state,
                           const std::vector<PackedPart>& archives,
                           const std::map<std::string, Object>& files,
                           base::Observer& observer,
                           const std::stop_token& stop);
Tree publish_object_tree(CacheState& state, const std::map<std::string, Object>& files);

}  // namespace sabath::cache
