#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

namespace sabath::env {

/// Starts a container of the image that was made ready, as stages will: does the engine work for
/// this user, and has the image the commands that the layer names? Throws
/// Error{environment|interrupted}.
void check_container(const LayerBuild& build,
                     const spec::BuiltLayer& layer,
                     const base::Environment& user,
                     base::ProcessRunner& processes);

}  // namespace sabath::env
