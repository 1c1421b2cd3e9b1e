#include "child.hpp"
#include "output_stream.hpp"
#include "process_family.hpp"
#include "supervision.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/detached_process.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <sys/wait.h>

namespace sabath::base {
namespace {

std::chrono::nanoseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// "NAME=VALUE"; empty where the command has no mark.
std::string mark_of(const Command& command) {
  if (command.mark.empty() || !command.environment) return {};
  const auto variable = command.environment->find(command.mark);
  return variable == command.environment->end() ? "" : variable->first + "=" + variable->second;
}

void take_end(ProcessResult& result, const ProcessFamily::End& end) {
  if (WIFEXITED(end.status)) result.exit_code = WEXITSTATUS(end.status);
  if (WIFSIGNALED(end.status)) {
    result.end = ProcessEnd::signaled;
    result.signal = WTERMSIG(end.status);
  }
  result.user = duration_of(end.usage.ru_utime);
  result.system = duration_of(end.usage.ru_stime);
  result.max_rss_bytes = static_cast<std::uint64_t>(end.usage.ru_maxrss) * 1024;
}

void take_reason(ProcessResult& result, ProcessEnd reason, const Command& command) {
  result.end = reason;
  if (reason == ProcessEnd::timed_out) result.limit = command.deadline.value_or(result.limit);
  if (reason == ProcessEnd::silent) result.limit = command.silence_deadline.value_or(result.limit);
}

void take_output(ProcessResult& result, OutputStream& output, OutputStream& errors) {
  output.drain();
  errors.drain();
  result.output_bytes = output.bytes();
  result.error_bytes = errors.bytes();
  result.output = output.take_tail();
  result.errors = errors.take_tail();
}

}  // namespace

ProcessResult SystemProcessRunner::run(const Command& command, std::stop_token stop) {
  ProcessResult result;
  if (stop.stop_requested()) {
    result.end = ProcessEnd::stopped;
    return result;
  }
  OutputStream output(command.stdout_path, command.capture_limit);
  OutputStream errors(command.stderr_path, command.capture_limit);
  Child child(command, output.child_end(), errors.child_end());
  const auto began = std::chrono::steady_clock::now();
  ProcessFamily family([&] { return child.fork(); }, mark_of(command));
  child.await_exec();
  output.started();
  errors.started();
  if (command.on_start) command.on_start(family.leader());

  Supervision supervision(command, family, output, errors);
  auto reason = supervision.wait(stop);
  result.wall = std::chrono::steady_clock::now() - began;
  result.leftovers = family.kill_others();
  take_end(result, family.reap());
  take_output(result, output, errors);
  // Output written just before the end may exceed the captured tail. A file has all of it.
  std::uint64_t most = command.stdout_path.empty() ? result.output_bytes : 0;
  if (command.stderr_path.empty()) most = std::max(most, result.error_bytes);
  if (!reason && command.output_limit && most > *command.output_limit) {
    reason = ProcessEnd::too_loud;
  }
  if (reason) take_reason(result, *reason, command);
  return result;
}

std::string ProcessResult::describe() const {
  const auto how = [&]() -> std::string {
    switch (end) {
      case ProcessEnd::exited:
        return fmt::format("exited with status {}", exit_code);
      case ProcessEnd::signaled:
        return fmt::format("was killed by signal {} ({})", signal, signal_name(signal));
      case ProcessEnd::timed_out:
        return fmt::format("ran past its limit of {} and was ended", format_duration(limit));
      case ProcessEnd::silent:
        return fmt::format("wrote nothing for {} and was ended", format_duration(limit));
      case ProcessEnd::too_loud:
        return fmt::format("wrote more than its limit ({} by then) and was ended",
                           format_bytes(std::max(output_bytes, error_bytes)));
      case ProcessEnd::stopped:
        return "was stopped";
    }
    return {};
  };
  if (leftovers == 0) return how();
  return how() + fmt::format("; {} it left behind {} killed",
                             leftovers == 1 ? "one process that"
                                            : fmt::format("{} processes that", leftovers),
                             leftovers == 1 ? "was" : "were");
}

int start_detached(Command command, int log) {
  command.outlives_caller = true;
  Child child(command, log, log);
  const int pid = child.fork();
  try {
    child.await_exec();
  } catch (const Error&) {
    ::waitpid(pid, nullptr, 0);
    throw;
  }
  return pid;
}

}  // namespace sabath::base
