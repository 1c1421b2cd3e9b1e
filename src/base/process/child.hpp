#pragma once

#include <sabath/base/process/command.hpp>
#include <sabath/base/unique_fd.hpp>

#include <string>
#include <vector>

namespace sabath::base {

/// Everything a child needs, made ready before the fork: after it, in a process with threads, only
/// async-signal-safe functions may be called.
class Child {
 public:
  /// Throws Error{launch} when the program cannot be found or the command makes no sense.
  Child(const Command& command, int stdout_fd, int stderr_fd);

  /// Forks. Returns the child's pid; throws Error{launch} when the system allows no more processes.
  int fork();
  /// Returns once the program runs; throws Error{launch} that says why it does not.
  void await_exec();

 private:
  /// How far the child came; travels through the pipe with errno.
  enum class Step : int { descriptors, working_directory, exec };
  struct Failure {
    Step step = Step::exec;
    int code = 0;
  };

  int fork_into_group() const noexcept;
  [[noreturn]] void become_program() const noexcept;
  [[noreturn]] static void fail(int fd, Step step) noexcept;
  void close_other_descriptors() const noexcept;

  std::string name_;
  std::string program_;
  std::string working_directory_;
  std::string control_group_;
  std::vector<std::string> argv_;
  std::vector<std::string> environment_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> environment_pointers_;
  UniqueFd stdin_;
  UniqueFd stdout_;
  UniqueFd stderr_;
  UniqueFd failure_reader_;
  UniqueFd failure_writer_;
  int caller_ = 0;
  int highest_descriptor_ = 0;
  bool outlives_caller_ = false;
};

}  // namespace sabath::base
