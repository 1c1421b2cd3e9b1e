#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::test {

/// A forked process that runs `work` and ends without destructors of the parent's objects; its exit
/// status is 0 when `work` returned an empty text. The text, or what was thrown, can be read.
class Child {
 public:
  explicit Child(const std::function<std::string()>& work) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      const std::string text = outcome_of(work);
      const ssize_t put = ::write(ends[1], text.data(), text.size());
      ::_exit(text.empty() && put == 0 ? 0 : 1);
    }
    ::close(ends[1]);
    reader_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) {
      kill();
      wait();
    }
    ::close(reader_);
  }
  Child(Child&& other) noexcept : pid_(other.pid_), reader_(other.reader_) {
    other.pid_ = -1;
    other.reader_ = -1;
  }
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  /// Empty for success; "killed" for that.
  std::string wait() {
    std::string text;
    char buffer[512];
    for (ssize_t got = 0; (got = ::read(reader_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFSIGNALED(status)) return "killed";
    return text.empty() && WEXITSTATUS(status) != 0 ? "failed" : text;
  }

 private:
  static std::string outcome_of(const std::function<std::string()>& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  pid_t pid_ = -1;
  int reader_ = -1;
};

}  // namespace sabath::test
