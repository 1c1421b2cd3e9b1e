#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace sabath::serve {

/// The user on the other side of a loopback TCP connection, by the kernel's table of sockets.
/// `socket` is this side's descriptor. Returns nothing where the table does not have it.
std::optional<uid_t> tcp_peer_user(int socket);
/// The same for a Unix socket.
std::optional<uid_t> socket_peer_user(int socket);

/// The owner of the socket in a table such as /proc/net/tcp that is connected from `local` to
/// `remote` ("0100007F:1F90").
std::optional<uid_t> owner_in(std::string_view table,
                              std::string_view local,
                              std::string_view remote);

}  // namespace sabath::serve
