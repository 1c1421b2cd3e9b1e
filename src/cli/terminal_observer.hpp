#pragma once

#include "progress_line.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace sabath::cli {

/// Tells people on stderr, and the log, what the library does. On a terminal progress is a few
/// lines that are drawn over and leave nothing behind; elsewhere a plain line every ten seconds.
/// No colours. Messages are made printable.
class TerminalObserver final : public base::Observer {
 public:
  TerminalObserver(bool quiet, base::Clock& clock);
  ~TerminalObserver() override;
  TerminalObserver(const TerminalObserver&) = delete;
  TerminalObserver& operator=(const TerminalObserver&) = delete;

  void note(std::string_view text) override;
  void warn(std::string_view text, std::string_view hint) override;
  void progress(const base::Progress& progress) override;

 private:
  struct Task {
    base::Progress last{};
    Pace pace{};
    base::SteadyTime reported{};  ///< when it last got a plain line; before that, its begin
    bool shown = false;
  };
  Task& task_of(const base::Progress& progress, base::SteadyTime now);
  void write_line(const std::string& line);
  void print_plainly(Task& task, base::SteadyTime now);
  void draw(base::SteadyTime now);
  void clear();

  const bool quiet_;
  const bool terminal_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::vector<Task> tasks_{};  ///< in the order they began
  base::SteadyTime drawn_{};
  std::vector<std::size_t>
      drawn_widths_{};  ///< of the lines on the terminal, the cursor at the last
};

}  // namespace sabath::cli
