#include "fork_events.hpp"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

constexpr int buffer_bytes = 1 << 20;
constexpr std::size_t message_bytes = 4096;
/// PROC_EVENT_FORK, which stands in another scope in later versions of the header.
constexpr unsigned fork_event = 1;

/// The kernel tells nothing to listeners of other namespaces than the first ones.
bool is_in_first_namespaces() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/ns/pid", code).native() == "pid:[4026531836]" &&
         std::filesystem::read_symlink("/proc/self/ns/user", code).native() == "user:[4026531837]";
}

bool tell_kernel(int fd, proc_cn_mcast_op wish) noexcept {
  cn_msg body{};
  body.id = {CN_IDX_PROC, CN_VAL_PROC};
  body.len = sizeof wish;
  nlmsghdr head{};
  head.nlmsg_len = NLMSG_LENGTH(sizeof body + sizeof wish);
  head.nlmsg_type = NLMSG_DONE;
  std::array<char, NLMSG_SPACE(sizeof(cn_msg) + sizeof(proc_cn_mcast_op))> message{};
  std::memcpy(message.data(), &head, sizeof head);
  std::memcpy(message.data() + NLMSG_HDRLEN, &body, sizeof body);
  std::memcpy(message.data() + NLMSG_HDRLEN + sizeof body, &wish, sizeof wish);
  return ::send(fd, message.data(), head.nlmsg_len, 0) >= 0;
}

}  // namespace

std::optional<ForkEvents> ForkEvents::ask() {
  if (!is_in_first_namespaces()) return std::nullopt;
  base::UniqueFd fd(
      ::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!fd) return std::nullopt;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return std::nullopt;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
  if (!tell_kernel(fd.get(), PROC_CN_MCAST_LISTEN)) return std::nullopt;
  return ForkEvents(std::move(fd));
}

ForkEvents::~ForkEvents() {
  if (fd_) tell_kernel(fd_.get(), PROC_CN_MCAST_IGNORE);
}

bool ForkEvents::read(const std::function<void(int parent, int child)>& take) {
  std::array<char, message_bytes> message{};
  bool has_all = true;
  while (true) {
    const ssize_t got = ::recv(fd_.get(), message.data(), message.size(), 0);
    if (got < 0 && errno == ENOBUFS) {
      has_all = false;
      continue;
    }
    if (got <= 0) return has_all;
    constexpr std::size_t at = NLMSG_HDRLEN + sizeof(cn_msg);
    proc_event event{};
    const auto size = static_cast<std::size_t>(got);
    if (size <= at) continue;
    std::memcpy(&event, message.data() + at, std::min(size - at, sizeof event));
    if (static_cast<unsigned>(event.what) != fork_event) continue;
    const auto& fork = event.event_data.fork;
    if (fork.child_pid == fork.child_tgid) take(fork.parent_tgid, fork.child_tgid);
  }
}

}  // namespace sabath::probe
