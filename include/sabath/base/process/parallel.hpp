#pragma once

#include <cstddef>
#include <functional>

namespace sabath::base {

/// Calls `work` with every number below `count`, lowest first, from one thread per available core.
/// After an exception no further call begins; the first exception is thrown when all have ended.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace sabath::base
