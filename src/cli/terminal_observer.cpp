#include "terminal_observer.hpp"

#include "log.hpp"

#include <sabath/base/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::chrono::nanoseconds redraw = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds plain_line = std::chrono::seconds(10);

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string amount(std::uint64_t value, bool in_bytes) {
  return in_bytes ? base::format_bytes(value) : std::to_string(value);
}

}  // namespace

TerminalObserver::TerminalObserver(bool quiet, base::Clock& clock)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1), clock_(clock) {}

TerminalObserver::~TerminalObserver() {
  clear_line();
}

void TerminalObserver::clear_line() {
  if (!line_is_drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  line_is_drawn_ = false;
}

void TerminalObserver::write_line(const std::string& line) {
  clear_line();
  std::fputs((line + "\n").c_str(), stderr);
}

void TerminalObserver::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  log_event("note", base::printable(text));
  if (!quiet_) write_line(base::printable(text));
}

void TerminalObserver::warn(std::string_view text, std::string_view hint) {
  const std::lock_guard lock(mutex_);
  log_event("warning", base::printable(text));
  write_line("sabath: warning: " + base::printable(text, true));
  if (!hint.empty()) write_line("  hint: " + base::printable(hint, true));
}

std::string TerminalObserver::line_of(const base::Progress& progress,
                                      const Task& task,
                                      base::SteadyTime now) {
  std::string line =
      base::printable(progress.task) + "  " + amount(progress.done, progress.in_bytes);
  if (progress.total) line += " of " + amount(*progress.total, progress.in_bytes);
  const double elapsed = std::chrono::duration<double>(now - task.began).count();
  const double moved =
      static_cast<double>(progress.done - std::min(progress.done, task.done_at_begin));
  if (elapsed < 0.5 || moved <= 0) return line;
  const double rate = moved / elapsed;
  line += fmt::format("  {}/s", amount(static_cast<std::uint64_t>(rate), progress.in_bytes));
  if (progress.total && *progress.total > progress.done) {
    const double left = static_cast<double>(*progress.total - progress.done) / rate;
    line += "  " +
            base::format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9))) +
            " left";
  }
  return line;
}

void TerminalObserver::progress(const base::Progress& progress) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  const base::SteadyTime now = clock_.steady();
  const auto [found, is_new] =
      tasks_.try_emplace(progress.task, Task{now, now, progress.done, false});
  Task& task = found->second;
  if (progress.finished) {
    clear_line();
    // What took long enough to be shown gets a last line, so that a log tells that it ended.
    if (task.shown && !terminal_) write_line(line_of(progress, task, now));
    tasks_.erase(found);
    return;
  }
  if (now - task.drawn < (terminal_ ? redraw : plain_line)) return;
  task.drawn = now;
  task.shown = true;
  std::string line = line_of(progress, task, now);
  if (!terminal_) {
    write_line(line);
    return;
  }
  line.resize(std::min(line.size(), terminal_width() - 1));
  std::fputs(("\r\x1b[K" + line).c_str(), stderr);
  std::fflush(stderr);
  line_is_drawn_ = true;
}

}  // namespace sabath::cli
