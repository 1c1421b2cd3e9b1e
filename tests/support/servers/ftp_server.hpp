#pragma once

#include "support/servers/loopback.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sabath::test {

/// As much of FTP (RFC 959, 2428, 3659) as a download needs, on the loopback interface: anonymous,
/// extended passive, SIZE, MDTM, REST, RETR.
class FtpServer {
 public:
  FtpServer();

  /// "ftp://127.0.0.1:port" + path.
  std::string url(const std::string& path) const;
  /// A file with a modification time that differs from that of every earlier one.
  void put(const std::string& path, const std::string& content);
  /// The next transfer of any file breaks off after so many bytes.
  void cut_once(std::size_t bytes);
  /// The next RETR is answered with this line.
  void refuse_once(const std::string& line);
  /// The commands that came, in order.
  std::vector<std::string> commands() const;

 private:
  struct File {
    std::string content{};
    std::string modified{};
  };
  struct Session;

  void serve(Connection& connection);
  bool obey(Session& session, const std::string& verb, const std::string& argument);
  bool send_file(Session& session, const std::string& name);
  std::optional<File> find(const std::string& path) const;

  mutable std::mutex mutex_;
  std::map<std::string, File> files_{};
  std::optional<std::size_t> cut_{};
  std::string refusal_{};
  std::vector<std::string> commands_{};
  int versions_ = 0;
  Loopback loopback_;  // last: its threads use the others
};

}  // namespace sabath::test
