#pragma once

#include <cstddef>
#include <functional>

namespace sabath::base {

/// Calls `work` with every number below `count`, lowest first, from as many threads as there are
/// cores for this process. Once one call has thrown no further one begins; the first error is
/// thrown when all have ended.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace sabath::base
