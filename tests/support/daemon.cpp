#include "support/daemon.hpp"

#include <sabath/base/unique_fd.hpp>

#include <netinet/in.h>

#include <chrono>
#include <stdexcept>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace sabath::test {

bool is_listening(std::uint16_t port) {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Daemon::Daemon(std::vector<std::string> argv, std::uint16_t port, base::Environment variables) {
  base::Command command;
  command.argv = std::move(argv);
  command.environment = base::current_environment();
  for (auto& [name, value] : variables)
    (*command.environment)[name] = value;
  command.grace = std::chrono::seconds(2);
  thread_ = std::jthread([this, command](std::stop_token stop) {
    try {
      result_ = processes_.run(command, std::move(stop));
    } catch (const std::exception& error) {
      result_.errors = error.what();
    }
    ended_ = true;
  });
  const auto began = std::chrono::steady_clock::now();
  while (!is_listening(port)) {
    const bool is_late = std::chrono::steady_clock::now() - began > std::chrono::seconds(60);
    if (ended_ || is_late) {
      thread_.request_stop();
      thread_.join();
      throw std::runtime_error(command.argv.front() + " does not listen: " + result_.output +
                               result_.errors);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Daemon::~Daemon() = default;

}  // namespace sabath::test
