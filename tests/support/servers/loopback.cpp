#include "support/servers/loopback.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <stdexcept>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sabath::test {

namespace {

base::UniqueFd listen_on_free_port(std::uint16_t& port) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), 64) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    throw std::runtime_error("cannot listen on the loopback interface");
  }
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

bool Connection::read_line(std::string& line) {
  while (buffer_.find('\n') == std::string::npos) {
    char block[4096];
    const ssize_t count = ::recv(fd_, block, sizeof block, 0);
    if (count <= 0) return false;
    buffer_.append(block, static_cast<std::size_t>(count));
  }
  line = buffer_.substr(0, buffer_.find('\n'));
  buffer_.erase(0, line.size() + 1);
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

bool Connection::read_bytes(std::size_t count, std::string& bytes) {
  while (buffer_.size() < count) {
    char block[4096];
    const ssize_t got = ::recv(fd_, block, sizeof block, 0);
    if (got <= 0) return false;
    buffer_.append(block, static_cast<std::size_t>(got));
  }
  bytes = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return true;
}

bool Connection::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Connection::wait_for_end() {
  char byte = 0;
  while (::recv(fd_, &byte, 1, 0) > 0) {
  }
}

Loopback::Loopback(std::function<void(Connection&)> serve)
    : serve_(std::move(serve)), listener_(listen_on_free_port(port_)) {
  acceptor_ = std::thread([this] { accept_all(); });
}

Loopback::~Loopback() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const int fd : open_)
      ::shutdown(fd, SHUT_RDWR);
  }
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_)
    thread.join();
}

int Loopback::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

void Loopback::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (fd < 0) return;
    if (ending_) {
      ::close(fd);
      return;
    }
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { serve_one(fd); });
  }
}

void Loopback::serve_one(int fd) {
  Connection connection(fd);
  serve_(connection);
  const std::lock_guard lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), fd));
  ::close(fd);
}

std::uint16_t unused_port() {
  std::uint16_t port = 0;
  listen_on_free_port(port);
  return port;
}

}  // namespace sabath::test
