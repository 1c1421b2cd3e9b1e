#pragma once

#include "support/daemon.hpp"
#include "support/temp_home.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sabath::test {

/// A request that nginx wrote into its log, at its end.
struct LoggedRequest {
  int status = 0;
  std::uint64_t body_bytes = 0;  ///< sent, without the header
  int connection = 0;
  std::string protocol{};  ///< "HTTP/2.0"
  std::string target{};
};

/// The real nginx for this user alone, as one process with a configuration, logs and temporary
/// files of its own, on two free ports of the loopback interface: http, and https with HTTP/2.
/// What the system's nginx is told stays unread.
class Nginx {
 public:
  /// `directives` stand in the block "http", `for_files` in the block "location /".
  explicit Nginx(const std::string& for_files = {}, const std::string& directives = {});

  std::string url(const std::string& target) const;
  std::string tls_url(const std::string& target) const;
  /// What a client of tls_url must trust.
  std::filesystem::path certificate() const { return home_ / "server.crt"; }
  /// A file that is served at `target`, or replaced there by a new version: nginx makes ETags of
  /// size and date, so that each version has another date.
  void put(const std::string& target, const std::string& content);

  /// Ends it at once, whatever it was sending: those requests are never logged.
  void stop();
  /// On the same ports as before, with an empty log.
  void start();
  /// Ends it, and gives what was logged since its start.
  std::vector<LoggedRequest> finish();

 private:
  std::string configuration(const std::string& for_files, const std::string& directives) const;

  TempHome home_{};
  std::uint16_t port_;
  std::uint16_t tls_port_;
  int versions_ = 0;
  std::unique_ptr<Daemon> daemon_{};
};

std::uint64_t body_bytes(const std::vector<LoggedRequest>& requests);
std::set<int> connections(const std::vector<LoggedRequest>& requests);
std::set<std::string> protocols(const std::vector<LoggedRequest>& requests);
std::size_t count_status(const std::vector<LoggedRequest>& requests, int status);

}  // namespace sabath::test
