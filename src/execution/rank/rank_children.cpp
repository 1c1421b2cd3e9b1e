#include "rank_children.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/variables.hpp>

#include <array>
#include <cerrno>
#include <string_view>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

constexpr std::array passed_on{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
/// Between SIGTERM and SIGKILL for ranks after the failure of one.
constexpr long patience_s = 5;

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : passed_on)
    ::sigaddset(&set, signal);
  return set;
}

/// All that execve needs: nothing is allocated between fork and it.
class Image {
 public:
  Image(const std::vector<std::string>& argv, const base::Environment& environment) : words_(argv) {
    for (const auto& [name, value] : environment)
      settings_.push_back(name + "=" + value);
    const auto program = base::find_program(argv.front(), base::variable_of(environment, "PATH"));
    const bool is_path = argv.front().find('/') != std::string::npos;
    file_ = program ? program->string() : is_path ? argv.front() : std::string();
    argument_pointers_ = base::pointers_to(words_);
    setting_pointers_ = base::pointers_to(settings_);
  }
  /// Returns where it cannot be started; errno says why. A script that names no interpreter is the
  /// shell's.
  void exec() const {
    ::signal(SIGPIPE, SIG_DFL);  // ignored signals outlive execve
    ::signal(SIGXFSZ, SIG_DFL);
    ::execvpe(file_.c_str(), argument_pointers_.data(), setting_pointers_.data());
  }

 private:
  std::vector<std::string> words_;
  std::vector<std::string> settings_{};
  std::string file_{};
  std::vector<char*> argument_pointers_{};
  std::vector<char*> setting_pointers_{};
};

/// What errno can say. strerrordesc_np could be asked between fork and exec, but is younger (glibc
/// 2.32) than the systems of some large machines.
std::vector<std::string> error_texts() {
  std::vector<std::string> texts;
  for (int code = 0; code <= EHWPOISON; ++code)
    texts.push_back(base::errno_text(code));
  return texts;
}

std::string cannot_be_started(const std::vector<std::string>& argv) {
  return "'" + argv.front() + "' cannot be started: ";
}

/// To stderr, between fork and exec.
void tell(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

bool is_failure(int status) {
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

RankChildren::RankChildren() {
  ::signal(SIGCHLD, SIG_DFL);  // who ignores it learns of no end
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

RankChildren::~RankChildren() {
  pass_on(SIGKILL);
}

void RankChildren::start(const std::vector<std::string>& argv,
                         const base::Environment& environment,
                         const std::string& name) {
  const Image image(argv, environment);
  const std::string problem = "sabath: rank: " + cannot_be_started(argv);
  const std::vector<std::string> reasons = error_texts();
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid < 0)
    throw base::Error(base::ErrorKind::launch, "no process for a rank: " + base::errno_text(errno));
  if (pid > 0) {
    names_.emplace(pid, name);
    return;
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {
    image.exec();
    const auto code = static_cast<std::size_t>(errno);
    tell(problem);
    tell(code < reasons.size() ? std::string_view(reasons[code]) : "unknown error");
    tell("\n");
  }
  ::_exit(127);
}

void RankChildren::pass_on(int signal) const {
  for (const auto& [pid, name] : names_)
    ::kill(pid, signal);
}

void RankChildren::end_others(const std::string& name, int status) {
  if (worst_ != 0 || !is_failure(status)) return;
  worst_ = status;
  // SIGTERM may have reached the child before this process.
  const bool was_ended = was_stopped_ || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  if (!was_ended) failed_ = name;
  pass_on(SIGTERM);
}

void RankChildren::reap() {
  for (int status = 0;;) {
    const int pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == ECHILD && !names_.empty()) {
      // Another process reaped the child: that must not pass for success.
      names_.clear();
      if (worst_ == 0) worst_ = W_EXITCODE(1, 0);
    }
    if (pid <= 0) return;
    if (const auto ended = names_.extract(pid)) end_others(ended.mapped(), status);
  }
}

int RankChildren::wait() {
  const sigset_t set = watched();
  timespec patience{patience_s, 0};
  while (true) {
    reap();
    if (names_.empty()) return worst_;
    const int signal =
        worst_ == 0 ? ::sigwaitinfo(&set, nullptr) : ::sigtimedwait(&set, nullptr, &patience);
    if (signal == SIGTERM) was_stopped_ = true;
    if (signal > 0 && signal != SIGCHLD) pass_on(signal);
    if (signal < 0 && errno == EAGAIN) pass_on(SIGKILL);
  }
}

void become(const std::vector<std::string>& argv, const base::Environment& environment) {
  Image(argv, environment).exec();
  throw base::Error(base::ErrorKind::launch, cannot_be_started(argv) + base::errno_text(errno));
}

int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const struct rlimit no_core {};
  ::setrlimit(RLIMIT_CORE, &no_core);  // the rank has left its own
  ::signal(signal, SIG_DFL);
  sigset_t just;
  ::sigemptyset(&just);
  ::sigaddset(&just, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &just, nullptr);
  return 128 + signal;
}

}  // namespace sabath::execution
