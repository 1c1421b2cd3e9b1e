#pragma once

#include <vector>

namespace sabath::base {

/// Binds this thread, and processes that it starts, to these hardware threads (kernel numbers).
/// Throws Error{launch} if the kernel refuses.
void bind_to_cpus(const std::vector<int>& cpus);

}  // namespace sabath::base
