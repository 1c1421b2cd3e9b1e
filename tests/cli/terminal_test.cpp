// What a person sees.
#include "progress_line.hpp"
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/text/display_width.hpp>
#include <sabath/base/unique_fd.hpp>

#include <catch2/catch.hpp>
#include <pty.h>

#include <algorithm>
#include <csignal>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;

namespace {

/// As much of a terminal as the program uses: lines, wrapping, cursor up, erasing.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns), rows_(1) {}

  void put(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
      if (bytes.substr(i).starts_with("\x1b[")) {
        i = escape(bytes, i + 2);
      } else {
        const std::size_t length = length_at(bytes, i);
        character(bytes.substr(i, length));
        i += length;
      }
    }
  }
  /// The rows that have something, joined.
  std::string text() const {
    std::string all;
    for (const auto& row : rows_) {
      for (const std::string& cell : row)
        all += cell;
      if (!row.empty()) all += "\n";
    }
    return all;
  }

 private:
  static std::size_t length_at(std::string_view bytes, std::size_t at) {
    std::size_t length = 1;
    while (at + length < bytes.size() &&
           (static_cast<unsigned char>(bytes[at + length]) & 0xC0U) == 0x80U)
      ++length;
    return length;
  }
  void down() {
    if (++row_ == rows_.size()) rows_.emplace_back();
  }
  void character(std::string_view text) {
    if (text == "\r") {
      column_ = 0;
    } else if (text == "\n") {
      down();
    } else {
      if (column_ == columns_) {
        down();
        column_ = 0;
      }
      auto& row = rows_[row_];
      row.resize(std::max(row.size(), column_ + 1), " ");
      row[column_++] = text;
    }
  }
  std::size_t escape(std::string_view bytes, std::size_t at) {
    std::size_t number = 0;
    for (; bytes[at] >= '0' && bytes[at] <= '9'; ++at)
      number = number * 10 + static_cast<std::size_t>(bytes[at] - '0');
    if (bytes[at] == 'A') row_ -= std::min(row_, number);
    if (bytes[at] == 'J') {
      rows_.resize(row_ + 1);
      rows_[row_].resize(std::min(rows_[row_].size(), column_));
    }
    CHECK((bytes[at] == 'A' || bytes[at] == 'J'));  // and nothing else: no colours
    return at + 1;
  }

  std::size_t columns_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::vector<std::vector<std::string>> rows_;
};

/// The program on a terminal of its own.
class OnTerminal {
 public:
  OnTerminal(const Sabath& sabath,
             const std::vector<std::string>& arguments,
             base::Environment environment,
             unsigned short columns)
      : screen_(columns) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    environment["TERM"] = "xterm";
    std::vector<std::string> argv{SABATH_PROGRAM};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment)
      variables.push_back(name + "=" + value);
    std::vector<char*> argv_pointers = pointers(argv);
    std::vector<char*> variable_pointers = pointers(variables);
    const std::string folder = sabath.folder().string();
    int fd = -1;
    pid_ = ::forkpty(&fd, nullptr, nullptr, &size);
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      if (::chdir(folder.c_str()) == 0) {
        ::execve(argv_pointers.front(), argv_pointers.data(), variable_pointers.data());
      }
      ::_exit(127);
    }
    terminal_.reset(fd);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  ~OnTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  std::string text() {
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal_.get(), buffer, sizeof buffer)) > 0;)
      screen_.put({buffer, static_cast<std::size_t>(got)});
    return screen_.text();
  }
  bool shows(const std::string& what) {
    return eventually([&] { return text().find(what) != std::string::npos; });
  }
  void interrupt() const { ::kill(pid_, SIGINT); }
  /// Its exit status, when all that it wrote was read.
  int wait() {
    int status = 0;
    REQUIRE(eventually([&] {
      text();
      return ::waitpid(pid_, &status, WNOHANG) == pid_;
    }));
    pid_ = -1;
    text();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts)
      pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  Screen screen_;
  base::UniqueFd terminal_;
  int pid_ = -1;
};

Reply stalled(const FaultServer& server, const std::string& target) {
  Reply reply = server.whole(target);
  reply.stall_after_bytes = reply.body.size() / 2;
  return reply;
}

base::Progress half_done() {
  base::Progress progress;
  progress.task = "https://portal.example.org/a/long/path/to/cosmoUniverse_mini.tar";
  progress.done = 1U << 30U;
  progress.total = 2U << 30U;
  progress.connections = 8;
  progress.sources = 2;
  return progress;
}

cli::Pace steady_pace() {
  cli::Pace pace;
  pace.note(base::SteadyTime(std::chrono::seconds(10)), 0);
  pace.note(base::SteadyTime(std::chrono::seconds(20)), 1U << 30U);
  return pace;
}

}  // namespace

TEST_CASE(
    "terminal: a line tells bytes, rate, time left, connections and mirrors where there is room") {
  CHECK(cli::progress_line(half_done(), steady_pace(), 200) ==
        "https://portal.example.org/a/long/path/to/cosmoUniverse_mini.tar  1.0 GiB of 2.0 GiB  "
        "102.4 MiB/s  10.0 s left  50%  8 connections  2 mirrors");
}

TEST_CASE("terminal: what is counted one by one has a rate in tenths, or none") {
  base::Progress progress;
  progress.task = "set";
  progress.done = 8;
  progress.total = 18;
  progress.in_bytes = false;
  cli::Pace pace;
  pace.note(base::SteadyTime(std::chrono::seconds(10)), 0);
  pace.note(base::SteadyTime(std::chrono::seconds(30)), 8);
  CHECK(cli::progress_line(progress, pace, 200) == "set  8 of 18  0.4/s  25.0 s left  44%");
  cli::Pace none;
  none.note(base::SteadyTime(std::chrono::seconds(10)), 8);
  none.note(base::SteadyTime(std::chrono::seconds(30)), 8);
  CHECK(cli::progress_line(progress, none, 200) == "set  8 of 18  44%");
}

TEST_CASE("terminal: a line never is wider than the window, and keeps what matters most") {
  for (std::size_t columns = 1; columns <= 160; ++columns) {
    INFO(columns);
    CHECK(base::display_width(cli::progress_line(half_done(), steady_pace(), columns)) <= columns);
  }
  const std::string narrow = cli::progress_line(half_done(), steady_pace(), 39);
  CHECK_THAT(narrow, Contains("1.0 GiB of 2.0 GiB") && Contains("mini.tar"));
}

TEST_CASE("terminal: names are cut by what they take on the screen, never within a character") {
  CHECK(base::cut_to_width("abcdefgh", 8) == "abcdefgh");
  CHECK(base::cut_to_width("abcdefgh", 5) == "a…fgh");
  CHECK(base::display_width("日本語") == 6);
  CHECK(base::cut_to_width("日本語データ", 7) == "日…ータ");
  CHECK(base::display_width("e\u0301") == 1);
  CHECK(base::cut_to_width("abc", 0).empty());
  for (std::size_t columns = 0; columns < 12; ++columns)
    CHECK(base::display_width(base::cut_to_width("日本語データ", columns)) <= columns);
}

TEST_CASE("terminal: only words that nobody reads to their end are cut in messages") {
  const std::string sentence = "many short words are left\n as they are ";
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += sentence;
  CHECK(base::cut_long_words(text) == text);
  const std::string word = "file:///" + std::string(5000, 'x') + "/end";
  const std::string cut = base::cut_long_words("a " + word + ": no\n" + word + "\n");
  CHECK_THAT(cut, Catch::StartsWith("a file:///xxx") && Catch::Contains("xxx/end: no\nfile:"));
  CHECK(base::display_width(cut) < 900);
  const test::Sabath sabath;
  CHECK(sabath({"fetch", word}).errors.size() < 1000);
  CHECK(sabath({"--json", "fetch", word}).errors.size() > 5000);
}

TEST_CASE("terminal: the rate is that of the last seconds") {
  cli::Pace pace;
  for (int second = 0; second <= 20; ++second)
    pace.note(base::SteadyTime(std::chrono::seconds(second)),
              second <= 10 ? second * 1000U : 10'000U);
  CHECK(pace.per_second() == 0.0);
}

TEST_CASE("terminal: a person sees how far a transfer is, and nothing of it is left in the end") {
  const auto columns = static_cast<unsigned short>(GENERATE(80, 40));
  Sabath sabath;
  FaultServer server;
  server.put("/a/rather/long/path/to/data.bin", std::string(4U << 20U, 'x'));
  server.always("/a/rather/long/path/to/data.bin",
                stalled(server, "/a/rather/long/path/to/data.bin"));
  OnTerminal program(sabath,
                     {"fetch", server.url("/a/rather/long/path/to/data.bin")},
                     sabath.environment(),
                     columns);
  const bool seen = program.shows("of 4.0 MiB");
  INFO(program.text());
  CHECK(seen);
  CHECK(program.shows("data.bin"));
  const std::string shown = program.text();
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 1);
  program.interrupt();
  CHECK(program.wait() == 130);
  CHECK(program.text().find("of 4.0 MiB") == std::string::npos);
  CHECK_THAT(program.text(), Contains("interrupted") || Contains("stopped"));
}

TEST_CASE("terminal: where none is, nothing is drawn") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", std::string(1U << 20U, 'x'));
  const Answer answer = sabath({"fetch", server.url("/data.bin")});
  CHECK(answer.status == 0);
  CHECK((answer.errors + answer.output).find('\x1b') == std::string::npos);
  CHECK((answer.errors + answer.output).find('\r') == std::string::npos);
}

TEST_CASE("terminal: a final line says what was downloaded, from where, and how fast") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", std::string(1U << 20U, 'x'));
  const Answer answer = sabath({"fetch", server.url("/data.bin")});
  CHECK_THAT(answer.output,
             Contains("data.bin: 1 file, 0 already there, 1.0 MiB downloaded in ") &&
                 Contains("/s) from 127.0.0.1:"));
}

TEST_CASE("terminal: what a stage wrote for a terminal does nothing on that of its reader") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe("spoken", R"(printf 'a\033]0;evil\007b\n')");
  REQUIRE(sabath({"run", recipe}).status == 0);
  OnTerminal logs(sabath, {"logs", "@last"}, sabath.environment(), 80);
  CHECK(logs.wait() == 0);
  CHECK_THAT(logs.text(), Contains(R"(a\x1b]0;evil\x07b)"));
  CHECK_THAT(sabath({"logs", "@last"}).output, Contains("a\x1b]0;evil\ab\n"));
}
