#include "commands/view/live_parts.hpp"
#include "exit_status.hpp"
#include "option_parser.hpp"

#include <sabath/base/process/stop_signal.hpp>
#include <sabath/live/now_text.hpp>

#include <termios.h>

#include <chrono>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::chrono::milliseconds between_pictures(1000);

/// The terminal as a page that is drawn again: its second screen, without a cursor, and keys at
/// once. The destructor gives it back as it was.
class Screen {
 public:
  Screen() {
    has_keys_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (has_keys_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    write_answer("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    write_answer("\x1b[?25h\x1b[?1049l");
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static live::TerminalSize size() {
    struct winsize size {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
    return {size.ws_col, size.ws_row};
  }

  /// Lines are overwritten, not erased first: nothing flickers.
  static bool draw(const std::string& text) {
    std::string picture = "\x1b[H";
    for (const char c : text)
      picture += c == '\n' ? "\x1b[K\r\n" : std::string(1, c);
    return write_answer(picture + "\x1b[K\x1b[J");
  }

  /// Waits for a key. Returns whether it was one that leaves.
  bool wait_for_key(std::chrono::milliseconds pause) const {
    pollfd keys{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    if (::poll(&keys, 1, static_cast<int>(pause.count())) <= 0) return false;
    char key = 0;
    const ssize_t got = ::read(STDIN_FILENO, &key, 1);
    return got <= 0 || key == 'q' || key == 'Q';
  }

 private:
  termios before_{};
  bool has_keys_ = false;
};

}  // namespace

int watch_status(Workspace& workspace) {
  workspace.refuse_json("'sabath status --json' answers once");
  if (::isatty(STDOUT_FILENO) != 1)
    throw usage_error("--watch: standard output is not a terminal", "'sabath wait' waits for runs");
  const std::stop_token stop = workspace.stop();
  live::LiveView view(live_parts(workspace));
  const Screen screen;
  while (!stop.stop_requested()) {
    const std::string now = view.answer({{"now"}, {}});
    const std::string text =
        live::now_text(now, Screen::size(), report::letters_of_locale(), workspace.clock().now());
    if (!Screen::draw(text) || screen.wait_for_key(between_pictures)) break;
  }
  return exit_done;
}

}  // namespace sabath::cli
