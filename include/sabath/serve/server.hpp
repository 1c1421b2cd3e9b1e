#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/serve/live_source.hpp>
#include <sabath/serve/server_options.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace sabath::serve {

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
