#pragma once

#include "workspace.hpp"

#include <sabath/live/live_view.hpp>

namespace sabath::cli {

/// What the live view is made of in this workspace, which must outlive it.
live::ViewParts live_parts(Workspace& workspace);

/// Shows the page "Now" on the terminal until 'q' or a signal. Throws Error{usage} where standard
/// output is not a terminal.
int watch_status(Workspace& workspace);

}  // namespace sabath::cli
