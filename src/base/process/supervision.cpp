#include "supervision.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::base {
namespace {

using std::chrono::nanoseconds;

/// How often the sizes of output files are looked at, where a limit depends on them.
constexpr nanoseconds file_interval = std::chrono::milliseconds(50);
/// How often, within a limit of silence, to ask for what is written elsewhere.
constexpr int looks_in_silence = 8;
/// How often to look whether the group of an ended leader has followed it.
constexpr nanoseconds group_interval = std::chrono::milliseconds(5);

SteadyTime now_steady() {
  return std::chrono::steady_clock::now();
}

/// `time + duration` without overflow.
SteadyTime later(SteadyTime time, nanoseconds duration) {
  return duration > SteadyTime::max() - time ? SteadyTime::max() : time + duration;
}

/// A descriptor that becomes readable when a child of this process ends; does not reap the child.
/// Uses a pidfd (Linux 5.3), or else a waiting thread.
class EndWatch {
 public:
  explicit EndWatch(int pid) {
#ifdef SYS_pidfd_open
    fd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (fd_) return;
#endif
    fd_.reset(::eventfd(0, EFD_CLOEXEC));
    if (!fd_) throw_errno("process " + std::to_string(pid), "cannot watch", errno);
    waiter_ = std::thread([pid, fd = fd_.get()] {
      siginfo_t info{};
      while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
             errno == EINTR) {
      }
      ::eventfd_write(fd, 1);
    });
  }
  /// Precondition: the child has ended, or is about to.
  ~EndWatch() {
    if (waiter_.joinable()) waiter_.join();
  }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  int fd() const noexcept {
    return fd_.get();
  }

 private:
  UniqueFd fd_;
  std::thread waiter_;
};

/// An event descriptor that becomes readable when a stop is requested.
class StopWatch {
 public:
  explicit StopWatch(const std::stop_token& stop)
      : event_(::eventfd(0, EFD_CLOEXEC)), callback_(stop, Notify{event_.get()}) {
    if (!event_) throw_errno("event descriptor", "cannot open", errno);
  }
  int fd() const noexcept { return event_.get(); }

 private:
  struct Notify {
    int fd;
    void operator()() const noexcept { ::eventfd_write(fd, 1); }
  };
  UniqueFd event_;
  std::stop_callback<Notify> callback_;
};

}  // namespace

Supervision::Supervision(const Command& command,
                         const ProcessFamily& family,
                         OutputStream& output,
                         OutputStream& errors)
    : command_(command),
      family_(family),
      output_(output),
      errors_(errors),
      deadline_(later(now_steady(), command.deadline.value_or(nanoseconds::max()))),
      last_output_(now_steady()),
      other_bytes_(command.other_output ? command.other_output() : 0),
      next_other_(command.other_output && command.silence_deadline ? last_output_
                                                                   : SteadyTime::max()) {}

std::optional<ProcessEnd> Supervision::wait(const std::stop_token& stop) {
  const EndWatch end(family_.leader());
  const StopWatch stop_watch(stop);
  while (true) {
    sleep_until_something_happens(leader_ended_ ? -1 : end.fd(),
                                  stop_requested_ ? -1 : stop_watch.fd());
    take_output();
    const SteadyTime now = now_steady();
    if (is_over(now)) return asked_;
    if (leader_ended_ || asked_) continue;
    const auto reason = passed_limit(now);
    // Its last words may reach us before the news of its end does: then nothing is left to end.
    if (reason && !family_.leader_has_ended()) ask_to_end(*reason, now);
  }
}

void Supervision::sleep_until_something_happens(int end_fd, int stop_fd) {
  std::array<pollfd, 4> waits{{{end_fd, POLLIN, 0},
                               {stop_fd, POLLIN, 0},
                               {output_.readable(), POLLIN, 0},
                               {errors_.readable(), POLLIN, 0}}};
  const nanoseconds most = std::chrono::hours(1);
  const nanoseconds wait = std::clamp(next_look() - now_steady(), nanoseconds(0), most);
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec timeout{whole.count(), (wait - whole).count()};
  if (::ppoll(waits.data(), waits.size(), &timeout, nullptr) <= 0) return;
  leader_ended_ = leader_ended_ || waits[0].revents != 0;
  stop_requested_ = stop_requested_ || waits[1].revents != 0;
}

SteadyTime Supervision::next_look() const {
  if (leader_ended_) return std::min(kill_at_, now_steady() + group_interval);
  if (asked_) return kill_at_;
  SteadyTime next = deadline_;
  if (command_.silence_deadline) {
    next = std::min({next, next_other_, later(last_output_, *command_.silence_deadline)});
  }
  const bool files = output_.is_file() || errors_.is_file();
  if (files && (command_.silence_deadline || command_.output_limit)) {
    next = std::min(next, now_steady() + file_interval);
  }
  return next;
}

void Supervision::take_output() {
  const bool more_output = output_.look();
  const bool more_errors = errors_.look();
  const SteadyTime now = now_steady();
  if (has_other_output(now) || more_output || more_errors) last_output_ = now;
}

/// Asked in time, so that what was written right before the limit counts.
bool Supervision::has_other_output(SteadyTime now) {
  if (next_other_ == SteadyTime::max() || asked_) return false;
  const nanoseconds silence = *command_.silence_deadline;
  if (now < next_other_ && now < later(last_output_, silence)) return false;
  next_other_ = later(now, silence / looks_in_silence);
  const std::uintmax_t bytes = command_.other_output();
  const bool is_more = bytes != other_bytes_;
  other_bytes_ = bytes;
  return is_more;
}

std::optional<ProcessEnd> Supervision::passed_limit(SteadyTime now) const {
  if (stop_requested_) return ProcessEnd::stopped;
  if (now >= deadline_) return ProcessEnd::timed_out;
  if (command_.output_limit &&
      std::max(output_.bytes(), errors_.bytes()) > *command_.output_limit) {
    return ProcessEnd::too_loud;
  }
  if (command_.silence_deadline && now >= later(last_output_, *command_.silence_deadline)) {
    return ProcessEnd::silent;
  }
  return std::nullopt;
}

void Supervision::ask_to_end(ProcessEnd reason, SteadyTime now) {
  asked_ = reason;
  kill_at_ = later(now, command_.grace);
  family_.send(SIGTERM);
  family_.send(SIGCONT);  // one that was stopped could not act on it
}

bool Supervision::is_over(SteadyTime now) {
  if (leader_ended_) return !asked_ || killed_ || now >= kill_at_ || !family_.others_run();
  if (now >= kill_at_) {
    family_.send(SIGKILL);
    kill_at_ = SteadyTime::max();
    killed_ = true;
  }
  return false;
}

}  // namespace sabath::base
