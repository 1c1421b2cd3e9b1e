#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/report/text_plot.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sabath::live {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// The page "Now" on a terminal: what runs, what waits and why, what ended badly. `now`: the JSON
/// document of the page. Has at most as many lines, of at most as many signs, as the terminal.
std::string now_text(const std::string& now,
                     TerminalSize size,
                     report::PlotLetters letters,
                     base::WallTime time);

}  // namespace sabath::live
