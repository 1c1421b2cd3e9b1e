#pragma once

#include <vector>

namespace sabath::catalog {

/// The migrations' SQL in order; number i takes a catalog from version i to i + 1.
const std::vector<const char*>& migrations();

}  // namespace sabath::catalog
