#pragma once

#include <sabath/base/process/process.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// Somebody's server on the loopback interface, for as long as it lives.
class Daemon {
 public:
  /// Starts it and waits until it listens at `port`. Throws std::runtime_error with what it said
  /// when it does not.
  Daemon(std::vector<std::string> argv, std::uint16_t port, base::Environment variables = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

 private:
  base::SystemProcessRunner processes_{};
  base::ProcessResult result_{};
  std::atomic<bool> ended_ = false;
  std::jthread thread_{};
};

/// Does anybody listen at this port of 127.0.0.1?
bool is_listening(std::uint16_t port);

}  // namespace sabath::test
