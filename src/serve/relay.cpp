#include "greeting.hpp"
#include "multiplexer.hpp"
#include "peer.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/serve/relay.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::serve {
namespace {

namespace net = boost::asio;
using base::Error;
using base::ErrorKind;
using boost::system::error_code;

/// A command with pipes at its standard input and output.
class PipedCommand {
 public:
  explicit PipedCommand(const std::vector<std::string>& words) : name_(words.front()) {
    std::array<int, 2> input{};
    std::array<int, 2> output{};
    if (::pipe2(input.data(), O_CLOEXEC) != 0) base::throw_errno(name_, "cannot start", errno);
    const base::UniqueFd child_input(input[0]);
    to_.reset(input[1]);
    if (::pipe2(output.data(), O_CLOEXEC) != 0) base::throw_errno(name_, "cannot start", errno);
    from_.reset(output[0]);
    const base::UniqueFd child_output(output[1]);
    std::vector<char*> arguments;
    for (const std::string& word : words)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, child_input.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, child_output.get(), STDOUT_FILENO);
    const int problem =
        ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) {
      pid_ = -1;
      throw Error(ErrorKind::launch, name_ + ": cannot start: " + base::errno_text(problem));
    }
  }
  ~PipedCommand() { wait(); }
  PipedCommand(const PipedCommand&) = delete;
  PipedCommand& operator=(const PipedCommand&) = delete;

  int from() const { return from_.get(); }
  int to() const { return to_.get(); }

  /// Closes the pipes, which ends the server there, and returns how the command ended.
  int wait() {
    to_.reset();
    from_.reset();
    if (pid_ < 0) return status_;
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }

 private:
  std::string name_;
  base::UniqueFd to_{};
  base::UniqueFd from_{};
  pid_t pid_ = -1;
  int status_ = 0;
};

/// Reads a line byte by byte: what follows the greeting belongs to the frames.
std::optional<std::string> read_line(int from, std::size_t most) {
  std::string line;
  char byte = 0;
  while (line.size() < most) {
    const ssize_t got = ::read(from, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    if (byte == '\n') return line;
    line += byte;
  }
  return line;
}

Greeting await_greeting(PipedCommand& command, const RelayOptions& options) {
  constexpr std::size_t most_characters = 64U << 10U;
  std::size_t seen = 0;
  while (seen < most_characters) {
    const auto line = read_line(command.from(), most_characters);
    if (!line) {
      const int status = command.wait();
      throw Error(ErrorKind::launch,
                  fmt::format("{}: ended with status {} before a server began",
                              options.command.front(),
                              WIFEXITED(status) ? WEXITSTATUS(status) : -1),
                  "check that 'sabath' is installed there: ssh HOST sabath --version");
    }
    if (auto greeting = parse_greeting(*line)) return *greeting;
    options.printed(*line);
    seen += line->size() + 1;
  }
  throw Error(ErrorKind::launch, options.command.front() + ": printed much, and no server began");
}

class Door {
 public:
  Door(Multiplexer& pipes, std::uint16_t port) : pipes_(pipes), acceptor_(io_) {
    const net::ip::tcp::endpoint place(net::ip::address_v4::loopback(), port);
    error_code code;
    acceptor_.open(place.protocol(), code);
    if (!code) acceptor_.set_option(net::socket_base::reuse_address(true), code);
    if (!code) acceptor_.bind(place, code);
    if (!code) acceptor_.listen(net::socket_base::max_listen_connections, code);
    // A browser that is started does not keep the port.
    if (!code) ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
    if (code) base::throw_errno(fmt::format("127.0.0.1:{}", port), "cannot listen", code.value());
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Door() {
    io_.stop();
    thread_.join();
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code code, net::ip::tcp::socket socket) {
      if (code == net::error::operation_aborted) return;
      if (code) {
        // No descriptor is left: one may be in a moment.
        retry_.expires_after(std::chrono::milliseconds(200));
        return retry_.async_wait([this](error_code) { accept(); });
      }
      if (tcp_peer_user(socket.native_handle()) == ::geteuid()) pipes_.open(socket.release());
      accept();
    });
  }

  Multiplexer& pipes_;
  net::io_context io_{1};
  net::ip::tcp::acceptor acceptor_;
  net::steady_timer retry_{io_};
  std::thread thread_{};
};

}  // namespace

void relay(const RelayOptions& options) {
  PipedCommand command(options.command);
  const Greeting greeting = await_greeting(command, options);
  Multiplexer pipes(command.from(), command.to(), [] { return -1; });
  const Door door(pipes, options.port);
  const std::string url = fmt::format("http://127.0.0.1:{}{}/", door.port(), greeting.base_path);
  options.ready(url + "#t=" + greeting.token, url + "#c=" + greeting.code);
  const std::string problem = pipes.run();
  if (!problem.empty()) throw Error(ErrorKind::transfer, options.command.front() + ": " + problem);
}

}  // namespace sabath::serve
