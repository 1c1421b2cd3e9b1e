#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/run_plan.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::planning {

/// What of the session the command that repeats a run has to set: "env", "NAME=VALUE" ...; nothing
/// where no variable that chooses among ways to compute is set. `variables` stand in place of this
/// process's. Secrets are left out.
std::vector<std::string> session_words(
    const std::optional<std::map<std::string, std::string>>& variables);

/// The part of this machine that `sabath run --cpus --gpus` binds a run to. Throws Error{usage}
/// where there are fewer.
spec::Place place_of(int cpus, int gpus, base::ProcessRunner& processes);

}  // namespace sabath::planning
