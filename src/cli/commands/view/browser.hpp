#pragma once

#include "workspace.hpp"

#include <string>

namespace sabath::cli {

/// Opens an address in the user's browser, where there is a display and xdg-open. Notes what it
/// could not do.
void open_browser(const std::string& address, Workspace& workspace);

}  // namespace sabath::cli
