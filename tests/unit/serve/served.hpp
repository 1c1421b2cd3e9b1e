#pragma once

#include "support/temp_home.hpp"
#include "unit/serve/small_source.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/serve/server.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sabath::test {

/// A server of a small source at a real socket.
class Served {
 public:
  explicit Served(serve::ServerOptions options = {}) : options_(std::move(options)) {
    source.file = home / "out.html";
    base::write_file_atomically(source.file, std::string(3'000'000, 'y'));
    server.emplace(options_, source, clock);
    thread = std::thread([this] { server->run(); });
  }
  ~Served() {
    server->end();
    thread.join();
  }

  /// Returns -1 where that fails. From any thread.
  int try_connect() const {
    int socket = -1;
    int problem = -1;
    if (!options_.socket.empty()) {
      sockaddr_un place{};
      place.sun_family = AF_UNIX;
      options_.socket.string().copy(place.sun_path, sizeof(place.sun_path) - 1);
      socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      problem = ::connect(socket, reinterpret_cast<sockaddr*>(&place), sizeof(place));
    } else {
      sockaddr_in place{};
      place.sin_family = AF_INET;
      place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      place.sin_port = htons(server->port());
      socket = ::socket(AF_INET, SOCK_STREAM, 0);
      problem = ::connect(socket, reinterpret_cast<sockaddr*>(&place), sizeof(place));
    }
    if (problem == 0) return socket;
    ::close(socket);
    return -1;
  }
  int connect() const {
    const int socket = try_connect();
    REQUIRE(socket >= 0);
    return socket;
  }

  /// Sends bytes as they are and returns all that comes back.
  std::string send(const std::string& bytes) const {
    const int socket = connect();
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::read(socket, buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(socket);
    return text;
  }
  std::string get(const std::string& target, const std::string& more = "") const {
    return send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                "Authorization: Bearer " + server->token() + "\r\n" + more + "\r\n");
  }

  TempHome home{};
  SmallSource source{};
  base::SystemClock clock{};
  std::optional<serve::Server> server{};
  std::thread thread{};

 private:
  serve::ServerOptions options_;
};

}  // namespace sabath::test
