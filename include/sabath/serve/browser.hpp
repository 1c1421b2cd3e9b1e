#pragma once

#include <string>

namespace sabath::serve {

/// Opens an address in the user's browser by xdg-open, where there is a display. Returns why that
/// failed; empty where it was started, or without a display.
std::string open_browser(const std::string& address);

}  // namespace sabath::serve
