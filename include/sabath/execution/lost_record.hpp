#pragma once

#include <sabath/home/run_files.hpp>

namespace sabath::execution {

/// Writes the record of a lost run: what its plan asked for, and what its last attempt left (facts
/// of the host, metrics), as far as readable. Only for a run whose process is gone, or said to be:
/// nobody writes another record after it. `status` has the reason, and in `updated` when the run
/// was last heard of. Returns false where there is a record already. Throws Error.
bool write_lost_record(const home::RunFiles& files, const spec::RunStatus& status);

}  // namespace sabath::execution
