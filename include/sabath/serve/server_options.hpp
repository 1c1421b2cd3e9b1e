#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
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

}  // namespace sabath::serve
