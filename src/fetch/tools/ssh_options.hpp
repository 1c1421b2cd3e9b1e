#pragma once

#include "tool_run.hpp"

#include <string>
#include <vector>

namespace sabath::fetch {

/// Options for ssh, scp and sftp alike: nothing is asked, a dead connection is noticed, nothing but
/// the files is passed on. Keys, hosts that are trusted and the rest are the user's own affair.
std::vector<std::string> ssh_options(const ToolContext& context);

}  // namespace sabath::fetch
