#pragma once

#include <string_view>

namespace sabath::base {

/// Whether an address leads to this machine or a private network: `file:`, a name such as
/// "localhost", or a private number in any notation. True also for a host that is not spelled
/// plainly: programs that fetch read such hosts in different ways.
bool is_private_address(std::string_view url);

}  // namespace sabath::base
