#pragma once

#include "reader_messages.hpp"

#include <sabath/arrays/reader_process.hpp>
#include <sabath/base/process/read_limits.hpp>
#include <sabath/base/process/sandbox.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace sabath::arrays {

/// Processor time for one request. An object of HDF5 takes hundreds of bytes of the file and
/// microseconds: what takes longer than this does not end.
constexpr std::chrono::seconds least_time{10};

/// How long one request may take.
struct RequestLimits {
  std::chrono::nanoseconds processor = least_time;
  base::ReadLimits limits{};
};

/// Thrown where the process ended, or was ended, instead of answering.
struct NoAnswer {
  std::string how{};
  bool is_timeout = false;
  bool may_be_chance = false;  ///< it was killed from outside, or had read other files before
};

/// One reader process, and the protocol with it. Not for several threads at a time.
class ReaderConnection {
 public:
  struct Reply {
    Answer what = Answer::done;
    std::string payload{};
  };

  /// Starts the process.
  ReaderConnection() : process_(reader_command, shared_bytes) {}

  bool is_idle() const noexcept { return process_.is_idle(); }
  const std::byte* memory() const noexcept { return process_.memory(); }
  /// Says that the process has read a file without harm.
  void set_used() noexcept { is_new_ = false; }

  /// Sends a request, with the descriptor `fd` unless it is negative, and waits for the answer.
  /// Throws NoAnswer, and the Error that was the answer.
  Reply ask(Request request,
            const PayloadWriter& payload,
            const RequestLimits& limits,
            int fd = -1);

 private:
  [[noreturn]] void throw_interrupted();
  [[noreturn]] void throw_ended();
  /// Waits until the socket is ready for `events`, within the limits.
  void wait_for(short events, const RequestLimits& limits);
  void check(const RequestLimits& limits);
  void send_head(const MessageHead& head, int fd, const RequestLimits& limits);
  void send(std::string_view bytes, const RequestLimits& limits);
  void receive(char* to, std::size_t bytes, const RequestLimits& limits);
  Reply receive(const RequestLimits& limits);

  base::SandboxProcess process_;
  bool is_new_ = true;
  std::chrono::steady_clock::time_point begin_{};
  std::chrono::nanoseconds processor_begin_{};
};

}  // namespace sabath::arrays
