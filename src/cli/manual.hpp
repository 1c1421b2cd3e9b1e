#pragma once

#include <string_view>
#include <vector>

namespace sabath::cli {

/// One page of docs/commands, embedded when sabath is built.
struct ManualPage {
  std::string_view name{};  ///< "run", "exit-status"
  std::string_view text{};  ///< Markdown
};

/// All pages, sorted by name.
const std::vector<ManualPage>& manual_pages();

}  // namespace sabath::cli
