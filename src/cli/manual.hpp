#pragma once

#include <string_view>
#include <vector>

namespace sabath::cli {

/// One page of docs/commands, or another one that `help` shows, embedded when sabath is built.
struct ManualPage {
  std::string_view name{};  ///< "run", "exit-status"
  std::string_view text{};  ///< Markdown; its first line is "# TITLE"
  bool is_topic = false;    ///< of docs/how-to or docs/explanation, or the tutorial
};

/// All pages: commands, then topics, each sorted by name.
const std::vector<ManualPage>& manual_pages();

}  // namespace sabath::cli
