#pragma once

#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_status.hpp>

#include <optional>
#include <vector>

namespace sabath::execution {

/// Returns the number of the attempt that executes the run, or did last; 0 where it is unknown.
int newest_attempt(const home::RunFiles& files) noexcept;

/// Keeps the status of an attempt that ended without ending the run.
void keep_attempt(const home::RunFiles& files, const spec::RunStatus& status);
/// Returns the attempts before attempt `number`; nothing where there are none.
std::optional<std::vector<spec::AttemptRecord>> attempts_before(const home::RunFiles& files,
                                                                int number);

}  // namespace sabath::execution
