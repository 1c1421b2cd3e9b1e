#include "peer.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>

#include <fmt/format.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace sabath::serve {
namespace {

constexpr std::uint64_t most_table_bytes = 64U << 20U;

/// The form of /proc/net/tcp: words of the address as this machine has them in memory.
std::string place_text(const sockaddr_storage& address) {
  std::string text;
  const auto add = [&](const void* bytes) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    text += fmt::format("{:08X}", word);
  };
  if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof(in));
    add(&in.sin_addr);
    return text + fmt::format(":{:04X}", ntohs(in.sin_port));
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &address, sizeof(in));
  for (std::size_t i = 0; i < sizeof(in.sin6_addr); i += sizeof(std::uint32_t))
    add(reinterpret_cast<const char*>(&in.sin6_addr) + i);
  return text + fmt::format(":{:04X}", ntohs(in.sin6_port));
}

std::optional<sockaddr_storage> address_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return address;
}

}  // namespace

std::optional<uid_t> owner_in(std::string_view table,
                              std::string_view local,
                              std::string_view remote) {
  constexpr std::size_t uid_column = 7;
  for (const std::string& line : base::text_lines(table)) {
    const std::vector<std::string> columns = base::split(line, ' ');
    if (columns.size() <= uid_column || columns[1] != local || columns[2] != remote) continue;
    uid_t user = 0;
    const std::string& text = columns[uid_column];
    const auto end = std::from_chars(text.data(), text.data() + text.size(), user);
    if (end.ec == std::errc() && end.ptr == text.data() + text.size()) return user;
  }
  return std::nullopt;
}

std::optional<uid_t> tcp_peer_user(int socket) {
  const auto own = address_of(socket, ::getsockname);
  const auto other = address_of(socket, ::getpeername);
  if (!own || !other) return std::nullopt;
  // In its own row the other side is local.
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    try {
      const auto text = base::read_file_if_exists(table, most_table_bytes);
      if (!text) continue;
      if (auto user = owner_in(*text, place_text(*other), place_text(*own))) return user;
    } catch (const base::Error&) {
      continue;  // without the table nobody is known, and who is not known is refused
    }
  }
  return std::nullopt;
}

std::optional<uid_t> socket_peer_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace sabath::serve
