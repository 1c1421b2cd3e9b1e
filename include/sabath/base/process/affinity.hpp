#pragma once

#include <vector>

namespace sabath::base {

/// Lets this thread, and what it starts from now on, run on these hardware threads alone (the
/// kernel's numbers). Throws Error{launch} where the kernel refuses.
void bind_to_cpus(const std::vector<int>& cpus);

}  // namespace sabath::base
