#pragma once

#include "object_store.hpp"
#include "tree_store.hpp"

#include <sabath/base/observer.hpp>

#include <stop_token>

namespace sabath::cache {

/// See Cache::verify.
VerifyReport verify_all(const Layout& layout,
                        const ObjectStore& objects,
                        const TreeStore& trees,
                        bool full,
                        base::Observer& observer,
                        std::stop_token stop);

/// See Cache::verify_one.
VerifyReport verify_digest(const ObjectStore& objects,
                           const TreeStore& trees,
                           const base::Digest& digest,
                           bool full);

}  // namespace sabath::cache
