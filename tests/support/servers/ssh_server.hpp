#pragma once

#include "support/daemon.hpp"
#include "support/temp_home.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace sabath::test {

/// The real sshd for this user alone, on a port of its own, with keys made on the spot.
class SshServer {
 public:
  SshServer();

  std::uint16_t port() const { return port_; }
  std::string user() const { return user_; }
  /// A configuration for clients that knows the host and has the key.
  std::filesystem::path client_configuration() const { return home_ / "client_config"; }
  /// A folder for files that are served.
  std::filesystem::path folder() const { return home_ / "files"; }

 private:
  TempHome home_{};
  std::string user_{};
  std::uint16_t port_ = 0;
  std::unique_ptr<Daemon> daemon_{};
};

}  // namespace sabath::test
