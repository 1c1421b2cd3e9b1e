#include "terminal_observer.hpp"

#include "log.hpp"

#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::chrono::nanoseconds redraw = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds plain_line = std::chrono::seconds(10);
constexpr std::size_t most_lines = 5;
constexpr std::size_t no_limit = 4096;

struct Screen {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Asked at every drawing: a window may have been resized.
Screen screen() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, std::max<std::size_t>(size.ws_row, 2)};
}

bool can_draw() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || std::string_view(kind) == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !is_dumb;
}

}  // namespace

TerminalObserver::TerminalObserver(bool quiet, base::Clock& clock)
    : quiet_(quiet), terminal_(can_draw()), clock_(clock) {}

TerminalObserver::~TerminalObserver() {
  clear();
  std::fflush(stderr);
}

/// Lines that a narrower window has wrapped take more rows than were drawn.
void TerminalObserver::clear() {
  if (drawn_widths_.empty()) return;
  const std::size_t columns = screen().columns;
  std::size_t rows = 0;
  for (const std::size_t width : drawn_widths_)
    rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  std::string text = "\r";
  if (rows > 1) text += "\x1b[" + std::to_string(rows - 1) + "A";
  text += "\x1b[J";
  std::fputs(text.c_str(), stderr);
  drawn_widths_.clear();
}

void TerminalObserver::write_line(const std::string& line) {
  clear();
  std::fputs((base::cut_long_words(line) + "\n").c_str(), stderr);
}

void TerminalObserver::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  log_event("note", base::printable(text));
  if (!quiet_) write_line(base::printable(base::redact(text)));
}

void TerminalObserver::warn(std::string_view text, std::string_view hint) {
  const std::lock_guard lock(mutex_);
  log_event("warning", base::printable(text));
  write_line("sabath: warning: " + base::message_text(text));
  if (!hint.empty()) write_line("  hint: " + base::message_text(hint));
}

TerminalObserver::Task& TerminalObserver::task_of(const base::Progress& progress,
                                                  base::SteadyTime now) {
  const auto found = std::ranges::find_if(
      tasks_, [&](const Task& task) { return task.last.task == progress.task; });
  const bool is_new = found == tasks_.end();
  Task& task = is_new ? tasks_.emplace_back() : *found;
  if (is_new) task.reported = now;
  task.last = progress;
  task.pace.note(now, progress.done);
  return task;
}

void TerminalObserver::print_plainly(Task& task, base::SteadyTime now) {
  const bool is_due = !task.last.finished && now - task.reported >= plain_line;
  if (is_due) task.reported = now;
  // What took long enough to be shown gets a last line, so that a log tells that it ended.
  task.shown = task.shown || is_due;
  if (is_due || (task.last.finished && task.shown))
    write_line(progress_line(task.last, task.pace, no_limit));
}

void TerminalObserver::draw(base::SteadyTime now) {
  drawn_ = now;
  const Screen size = screen();
  // One column less: a character in the last one makes some terminals wrap.
  const std::size_t columns = size.columns - 1;
  const std::size_t lines = std::min({most_lines, size.rows - 1, tasks_.size()});
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines; ++i)
    texts.push_back(progress_line(tasks_[i].last, tasks_[i].pace, columns));
  if (tasks_.size() > lines && lines > 0) {
    texts.back() =
        base::cut_to_width("and " + std::to_string(tasks_.size() - lines + 1) + " more", columns);
  }
  clear();
  std::string all;
  for (const std::string& text : texts) {
    if (!drawn_widths_.empty()) all += '\n';
    all += text;
    drawn_widths_.push_back(base::display_width(text));
  }
  std::fputs(all.c_str(), stderr);
  std::fflush(stderr);
}

void TerminalObserver::progress(const base::Progress& progress) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  const base::SteadyTime now = clock_.steady();
  Task& task = task_of(progress, now);
  if (!terminal_) print_plainly(task, now);
  if (progress.finished)
    std::erase_if(tasks_, [&](const Task& one) { return one.last.task == progress.task; });
  if (!terminal_) return;
  if (tasks_.empty()) {
    clear();
    std::fflush(stderr);
  } else if (now - drawn_ >= redraw) {
    draw(now);
  }
}

}  // namespace sabath::cli
