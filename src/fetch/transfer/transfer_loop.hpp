#pragma once

#include "http/curl_handle.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace sabath::fetch {

/// Drives transfers on the calling thread and keeps their connections for the next ones. The multi
/// handle is made when it is first needed. A transfer must leave the loop before it is destroyed.
class TransferLoop {
 public:
  struct Ended {
    CURL* transfer = nullptr;
    CURLcode code = CURLE_OK;
  };

  /// `connections_per_host`: more wait for their turn.
  explicit TransferLoop(unsigned connections_per_host)
      : connections_per_host_(connections_per_host) {}

  void add(CURL* transfer);
  void remove(CURL* transfer) noexcept;
  /// Moves all transfers on; those that ended leave the loop.
  std::vector<Ended> step();
  /// Waits until a transfer can move on, `wake` is called, or `most` has passed.
  void wait(std::chrono::nanoseconds most);
  /// From any thread.
  void wake() noexcept;

  /// Runs one transfer to its end and returns libcurl's verdict; nothing when `stop` was requested
  /// or `tick`, which is called at least ten times a second, returned false.
  std::optional<CURLcode> run(CURL* transfer,
                              const std::stop_token& stop,
                              const std::function<bool()>& tick);

 private:
  CURLM* multi();

  unsigned connections_per_host_;
  CurlMulti multi_{};
};

/// Keeps a transfer in a loop for a while.
class Membership {
 public:
  Membership(TransferLoop& loop, CURL* transfer) : loop_(loop), transfer_(transfer) {
    loop_.add(transfer_);
  }
  ~Membership() { loop_.remove(transfer_); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  TransferLoop& loop_;
  CURL* transfer_;
};

}  // namespace sabath::fetch
