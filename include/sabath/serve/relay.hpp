#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sabath::serve {

struct RelayOptions {
  std::vector<std::string> command{};  ///< starts a server on its standard input and output
  /// Of this machine's loopback; 0: a free one.
  std::uint16_t port = 0;
  /// Is called once with the address to open, and with one that opens the view once, within a
  /// minute, and has no token in it.
  std::function<void(const std::string& address, const std::string& once)> ready{};
  /// Is called with what the other machine prints before the server begins.
  std::function<void(const std::string& line)> printed{};
};

/// Listens on loopback and relays to a server that `command` starts, until that ends. Only this
/// user may connect. Throws Error{launch} where the command cannot be started or no server begins,
/// and Error{transfer} where what it sends cannot be understood.
void relay(const RelayOptions& options);

}  // namespace sabath::serve
