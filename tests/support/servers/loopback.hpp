#pragma once

#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sabath::test {

/// One accepted connection, read by lines. Reads and writes end with failure when the other side,
/// or the listener, closes it.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  /// The next line without its CRLF; false at the end.
  bool read_line(std::string& line);
  /// The next `count` bytes; false where the end comes first.
  bool read_bytes(std::size_t count, std::string& bytes);
  bool write(std::string_view bytes) const;
  /// Waits until the other side or the listener closes the connection.
  void wait_for_end();

 private:
  int fd_;
  std::string buffer_{};
};

/// A listening socket of 127.0.0.1 on a free port; each connection is served on its own thread.
/// Ends them all when it is destroyed.
class Loopback {
 public:
  explicit Loopback(std::function<void(Connection&)> serve);
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const;

 private:
  void accept_all();
  void serve_one(int fd);

  std::function<void(Connection&)> serve_;
  std::uint16_t port_ = 0;  // before the listener, which sets it
  base::UniqueFd listener_;
  mutable std::mutex mutex_;
  bool ending_ = false;
  std::vector<int> open_{};
  std::vector<std::thread> threads_{};
  std::thread acceptor_;
};

/// A free port of 127.0.0.1 where nobody listens.
std::uint16_t unused_port();

}  // namespace sabath::test
