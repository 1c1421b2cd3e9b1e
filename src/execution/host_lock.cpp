#include <sabath/execution/host_lock.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sabath::execution {

HostLock::HostLock(const std::string& thing, std::chrono::nanoseconds patience, base::Clock& clock)
    : name_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  // Of Linux's names without files only one socket has each (unix(7), abstract).
  const std::string name = "sabath-" + thing + "-" + std::to_string(::geteuid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto end = clock.steady() + patience;
  while (name_) {
    is_held_ = ::bind(name_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
    if (is_held_ || errno != EADDRINUSE || clock.steady() > end) return;
    clock.sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace sabath::execution
