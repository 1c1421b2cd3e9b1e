#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/serve/live_source.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::serve {

/// How clients reach a server.
enum class Transport {
  tcp,     ///< a port of this machine's loopback
  socket,  ///< a Unix socket of this user
  stdio    ///< frames on standard input and output (docs/formats/live.md)
};

struct ServerOptions {
  Transport transport = Transport::tcp;
  std::filesystem::path socket{};         ///< where to make the Unix socket
  std::uint16_t port = 0;                 ///< 0: a free one
  std::vector<std::string> host_names{};  ///< further names by which clients may call it
  std::string base_path{};                ///< in front of every path, behind a portal
  std::string frame_ancestors{};          ///< pages that may show it in a frame; empty: none
  std::chrono::nanoseconds idle{};        ///< ends after so long without a request; 0: never
  std::filesystem::path web{};            ///< serves pages from this folder; for development
  std::string_view style{};               ///< the style sheet of reports
};

/// An HTTP server that answers from a source. It changes nothing: it answers GET and HEAD only.
/// Refuses connections of other users, and requests that lack the token or come from other pages.
/// Thread safety: `run` is called once, by one thread.
class Server {
 public:
  /// Binds. Throws Error{usage} for a socket whose path is too long, and Error{storage} where it
  /// cannot be made.
  Server(const ServerOptions& options, LiveSource& source, base::Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "http://127.0.0.1:41234/"; for a Unix socket where a tunnel's end would be.
  std::string url() const;
  const std::string& token() const;
  std::uint16_t port() const;
  /// An address that opens the view once, within a minute, and has no token in it.
  std::string url_for_browser() const;

  /// Serves until nobody asked for `idle`, standard input ends (of stdio), or `end` is called.
  void run();
  /// Ends `run`, from any thread.
  void end();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sabath::serve
