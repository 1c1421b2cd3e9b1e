#pragma once

#include "curl_handle.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace sabath::fetch {

/// Drives transfers on the calling thread and keeps their connections for the next ones. The multi
/// handle is made at the first run.
class TransferLoop {
 public:
  /// Runs the transfer to its end and returns libcurl's verdict; nothing when `stop` was requested
  /// or `tick`, which is called at least ten times a second, returned false.
  std::optional<CURLcode> run(CURL* transfer,
                              const std::stop_token& stop,
                              const std::function<bool()>& tick);

 private:
  std::optional<CURLcode> verdict(CURL* transfer);

  CurlMulti multi_{};
};

}  // namespace sabath::fetch
