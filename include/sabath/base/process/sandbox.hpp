#pragma once

#include <sabath/base/unique_fd.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace sabath::base {

/// A second process of this program, for work that may crash or never end. It is started as
/// `PROGRAM COMMAND PID`, with this process's pid and few environment variables. Descriptor 0 is a
/// stream socket to this process, 1 and 2 discard, 3 is `memory()`. The kernel kills it when the
/// starting thread ends. Thread safety: one thread at a time.
class SandboxProcess {
 public:
  /// Throws Error{launch}.
  SandboxProcess(const std::string& command, std::size_t memory_bytes);
  ~SandboxProcess();  ///< kills it
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;

  int socket() const noexcept { return socket_.get(); }
  /// Memory that both share, of a fixed size.
  const std::byte* memory() const noexcept { return memory_; }
  /// Whether it still runs, and has sent nothing that was not taken.
  bool is_idle() const noexcept;
  std::chrono::nanoseconds processor_time() const noexcept;
  void kill() noexcept;
  /// Waits for its end: "was killed by signal 11 (SIGSEGV)", "exited with status 1".
  std::string wait_for_end();
  /// Whether a signal ended it that only others send (SIGKILL); known after wait_for_end().
  bool was_killed() const noexcept { return was_killed_; }

 private:
  UniqueFd socket_{};
  std::byte* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  int pid_ = -1;
  bool was_killed_ = false;
};

constexpr int sandbox_socket = 0;
constexpr int sandbox_memory = 3;

/// Confines the calling process, which SandboxProcess has started; to be called before it reads the
/// first untrusted byte. Closes inherited descriptors but these four. From then on the process ends
/// with `parent`, makes no core dump, cannot be traced, writes no file and has at most
/// `memory_bytes`. Where the kernel filters system calls, it cannot start programs, use a network,
/// open files for writing, or send signals to others.
/// Returns false if the process is not a child of `parent`.
bool enter_sandbox(int parent, std::uint64_t memory_bytes) noexcept;
/// Whether memory has a limit and system calls are filtered: not in a build with sanitizers, which
/// reserve terabytes and make calls of their own.
bool is_sandbox_strict() noexcept;

}  // namespace sabath::base
