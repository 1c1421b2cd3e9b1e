#pragma once

#include "http/curl_handle.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace sabath::fetch {

/// Runs transfers on the calling thread and keeps their connections for the next ones. The multi
/// handle is made on first use. A transfer must leave the loop before it is destroyed.
class TransferLoop {
 public:
  struct Ended {
    CURL* transfer = nullptr;
    CURLcode code = CURLE_OK;
  };

  /// `connections_per_host`: further transfers wait.
  explicit TransferLoop(unsigned connections_per_host)
      : connections_per_host_(connections_per_host) {}

  void add(CURL* transfer);
  void remove(CURL* transfer) noexcept;
  /// Advances all transfers. Ended ones leave the loop.
  std::vector<Ended> step();
  /// Waits until a transfer can advance, `wake` is called, or `most` has passed.
  void wait(std::chrono::nanoseconds most);
  /// Thread safety: any thread may call it.
  void wake() noexcept;

  /// Runs one transfer to its end. Returns libcurl's code; nothing when `stop` was requested or
  /// `tick` returned false. `tick` is called at least ten times a second.
  std::optional<CURLcode> run(CURL* transfer,
                              const std::stop_token& stop,
                              const std::function<bool()>& tick);

 private:
  CURLM* multi();

  unsigned connections_per_host_;
  CurlMulti multi_{};
};

/// Scope in which a transfer is in a loop.
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
