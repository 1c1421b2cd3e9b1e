#pragma once

#include <sabath/home/run_files.hpp>

namespace sabath::execution {

/// Writes the record of a run that is lost: what its plan asked for, and what its last attempt left
/// (facts of the host, metrics), as far as that can be read. Only for one whose process is gone, or
/// is said to be, since nobody writes another after it. `status` says why, and its `updated` when
/// it was last heard of. False where there is a record already. Throws Error.
bool write_lost_record(const home::RunFiles& files, const spec::RunStatus& status);

}  // namespace sabath::execution
