#include "greeting.hpp"
#include "multiplexer.hpp"
#include "peer.hpp"
#include "site.hpp"

#include <sabath/base/error.hpp>
#include <sabath/serve/server.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sabath::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t most_head_bytes = 8U << 10U;
constexpr std::chrono::seconds request_time(10);
/// Of an answer, but for files.
constexpr std::chrono::minutes answer_time(10);
constexpr int most_connections = 64;
constexpr int most_heavy = 4;
constexpr std::size_t least_compressed = 4U << 10U;

/// gzip of a text that a browser asks for; nothing where that fails.
std::optional<std::string> compressed(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  constexpr int usual_memory = 8;
  if (deflateInit2(&stream, 1, Z_DEFLATED, gzip_window, usual_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int end = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) return std::nullopt;
  return result;
}

/// Whether the bytes that came are not a request.
bool is_malformed(const error_code& code) {
  return code.category() == http::make_error_code(http::error::bad_target).category() &&
         code != http::error::end_of_stream && code != http::error::partial_message;
}

RequestHead head_of(const http::request<http::empty_body>& request) {
  RequestHead head;
  head.method = std::string(request.method_string());
  head.target = std::string(request.target());
  for (const auto& field : request)
    head.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  return head;
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, LiveSource& source, base::Clock& clock)
      : options_(options), site_(options, serve::make_token(), source, clock) {
    switch (options_.transport) {
      case Transport::tcp:
        listen_tcp();
        break;
      case Transport::socket:
        listen_socket();
        break;
      case Transport::stdio:
        break;
    }
  }

  ~Impl() {
    light_.stop();
    heavy_.stop();
    light_.join();
    heavy_.join();
    if (options_.transport == Transport::socket) ::unlink(options_.socket.c_str());
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Site& site() { return site_; }

  std::uint16_t port() const { return port_; }

  void run() {
    used_ = std::chrono::steady_clock::now();
    watch_idle();
    if (tcp_) accept_on(*tcp_);
    if (local_) accept_on(*local_);
    if (options_.transport != Transport::stdio) {
      io_.run();
      return;
    }
    greet();
    Multiplexer pipes(STDIN_FILENO, STDOUT_FILENO, [this] { return connected_pair(); });
    end_pipes_ = [&pipes] { pipes.end(); };
    std::thread server([this] { io_.run(); });
    const std::string problem = pipes.run();
    io_.stop();
    server.join();
    if (!problem.empty())
      throw base::Error(base::ErrorKind::transfer, "standard input: " + problem);
  }

  void end() {
    net::post(io_, [this] {
      if (end_pipes_) end_pipes_();
      io_.stop();
    });
  }

 private:
  template <class Protocol>
  class Connection;

  void listen_tcp() {
    const net::ip::tcp::endpoint place(net::ip::address_v4::loopback(), options_.port);
    error_code code;
    tcp_.emplace(io_);
    tcp_->open(place.protocol(), code);
    if (!code) tcp_->set_option(net::socket_base::reuse_address(true), code);
    if (!code) tcp_->bind(place, code);
    if (!code) tcp_->listen(most_connections, code);
    // A browser that is started does not keep the port.
    if (!code) ::fcntl(tcp_->native_handle(), F_SETFD, FD_CLOEXEC);
    if (code)
      base::throw_errno(fmt::format("127.0.0.1:{}", options_.port), "cannot listen", code.value());
    port_ = tcp_->local_endpoint().port();
  }

  void listen_socket() {
    const std::string path = options_.socket.string();
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
      throw base::Error(base::ErrorKind::usage,
                        path + ": is too long for a socket",
                        fmt::format("give --socket a path of at most {} characters",
                                    sizeof(sockaddr_un::sun_path) - 1));
    }
    // No other user may connect, from the first moment on.
    const mode_t before = ::umask(0177);
    error_code code;
    local_.emplace(io_);
    local_->open(net::local::stream_protocol(), code);
    if (!code) local_->bind(net::local::stream_protocol::endpoint(path), code);
    ::umask(before);
    if (!code) local_->listen(most_connections, code);
    if (!code) ::fcntl(local_->native_handle(), F_SETFD, FD_CLOEXEC);
    if (code) base::throw_errno(path, "cannot make the socket", code.value());
  }

  /// Says where frames begin: a login may print before.
  void greet() {
    const std::string line = greeting_line({site_.token(), site_.make_code(), options_.base_path});
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      base::throw_errno("standard output", "cannot write", errno);
  }

  /// A connection that stays within this process, for what comes through pipes.
  int connected_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return -1;
    net::post(io_, [this, own = ends[0]] {
      serve(net::local::stream_protocol::socket(io_, net::local::stream_protocol(), own), false);
    });
    return ends[1];
  }

  template <class Acceptor>
  void accept_on(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](error_code code, auto socket) {
      if (!code) serve(std::move(socket), true);
      if (code && code != net::error::operation_aborted) {
        // No descriptor is left: one may be in a moment.
        retry_.expires_after(std::chrono::milliseconds(200));
        return retry_.async_wait([this, &acceptor](error_code) { accept_on(acceptor); });
      }
      if (!code) accept_on(acceptor);
    });
  }

  static bool is_own(net::ip::tcp::socket& socket) {
    return tcp_peer_user(socket.native_handle()) == ::geteuid();
  }
  static bool is_own(net::local::stream_protocol::socket& socket) {
    return socket_peer_user(socket.native_handle()) == ::geteuid();
  }

  template <class Socket>
  void serve(Socket socket, bool checks_peer) {
    if (connections_ >= most_connections || (checks_peer && !is_own(socket))) return;
    using Protocol = typename Socket::protocol_type;
    std::make_shared<Connection<Protocol>>(*this, std::move(socket))->read();
  }

  void watch_idle() {
    if (options_.idle.count() <= 0) return;
    idle_.expires_after(std::chrono::seconds(1));
    idle_.async_wait([this](error_code code) {
      if (code) return;
      if (std::chrono::steady_clock::now() - used_ < options_.idle) return watch_idle();
      if (end_pipes_) end_pipes_();
      io_.stop();
    });
  }

  ServerOptions options_;
  Site site_;
  std::atomic<int> connections_{0};  ///< outlives those that count in it
  std::atomic<int> heavy_waiting_{0};
  net::io_context io_{1};
  net::steady_timer idle_{io_};
  net::steady_timer retry_{io_};
  std::optional<net::ip::tcp::acceptor> tcp_{};
  std::optional<net::local::stream_protocol::acceptor> local_{};
  std::function<void()> end_pipes_{};
  std::uint16_t port_ = 0;
  std::chrono::steady_clock::time_point used_{};
  net::thread_pool light_{1};
  net::thread_pool heavy_{2};
};

/// One connection: requests one after another.
template <class Protocol>
class Server::Impl::Connection : public std::enable_shared_from_this<Connection<Protocol>> {
 public:
  Connection(Impl& server, typename Protocol::socket socket)
      : server_(server), stream_(std::move(socket)) {
    ++server_.connections_;
  }
  ~Connection() { --server_.connections_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(most_head_bytes);
    // Only heads are read; a request with a body is refused by its head.
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    stream_.expires_after(request_time);
    http::async_read_header(
        stream_,
        buffer_,
        *parser_,
        [self = this->shared_from_this()](error_code code, std::size_t) { self->take(code); });
  }

 private:
  void take(error_code code) {
    if (is_malformed(code)) {
      const bool is_long = code == http::error::header_limit;
      keep_alive_ = false;
      return write(Site::refusal({is_long ? 431 : 400,
                                  is_long ? "the head of the request is longer than 8 KiB"
                                          : "the request cannot be read",
                                  ""}),
                   true,
                   false);
    }
    if (code) return;  // closed, or silent for too long
    const RequestHead head = head_of(parser_->get());
    server_.used_ = std::chrono::steady_clock::now();
    // A body follows this head, not the next request.
    const bool has_body = head.count("content-length") + head.count("transfer-encoding") > 0;
    keep_alive_ = parser_->get().keep_alive() && !has_body;
    is_old_ = parser_->get().version() < 11;
    const bool takes_gzip = head.field("accept-encoding").find("gzip") != std::string::npos;
    const bool is_heavy = server_.site_.is_heavy(head);
    if (is_heavy && server_.heavy_waiting_ >= most_heavy) {
      return write(Site::refusal({503, "too much is asked for at a time", "ask again in a second"}),
                   head.method != "HEAD",
                   false);
    }
    if (is_heavy) ++server_.heavy_waiting_;
    stream_.expires_never();
    net::post(is_heavy ? server_.heavy_ : server_.light_,
              [self = this->shared_from_this(), head, takes_gzip, is_heavy]() mutable {
                handle(std::move(self), head, takes_gzip, is_heavy);
              });
  }

  /// Runs in a thread of a pool. The connection is given back to the thread of all sockets.
  static void handle(std::shared_ptr<Connection> self,
                     const RequestHead& head,
                     bool takes_gzip,
                     bool is_heavy) {
    Impl& server = self->server_;
    auto response = std::make_shared<Response>(server.site_.handle(head));
    const bool has_body = head.method != "HEAD";
    if (is_heavy) --server.heavy_waiting_;
    if (takes_gzip && response->body.size() >= least_compressed) {
      if (auto packed = compressed(response->body)) {
        response->body = std::move(*packed);
        response->fields.emplace_back("Content-Encoding", "gzip");
      }
    }
    net::post(server.io_, [self = std::move(self), response, has_body] {
      self->write(std::move(*response), has_body, true);
    });
  }

  template <class Body>
  void fill(http::response<Body>& message, const Response& response) const {
    message.version(is_old_ ? 10 : 11);
    message.result(static_cast<unsigned>(response.status));
    message.set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.fields)
      message.set(name, value);
    message.keep_alive(keep_alive_);
  }

  void write(Response response, bool has_body, bool is_known) {
    if (!is_known) server_.site_.set_policy_of_refusal(response);
    stream_.expires_after(answer_time);
    if (response.file && has_body) {
      stream_.expires_never();  // a file of any size, however slowly it is read
      return write_file(std::move(response));
    }
    auto message = std::make_shared<http::response<http::string_body>>();
    fill(*message, response);
    message->content_length(response.file ? response.file->size_bytes : response.body.size());
    if (has_body) message->body() = std::move(response.body);
    send(message);
  }

  void write_file(Response response) {
    auto message = std::make_shared<http::response<http::file_body>>();
    fill(*message, response);
    beast::file_posix file;
    file.native_handle(response.file->file.release());
    error_code code;
    message->body().reset(std::move(file), code);
    if (code) return;
    message->prepare_payload();
    send(message);
  }

  template <class Message>
  void send(const std::shared_ptr<Message>& message) {
    http::async_write(stream_,
                      *message,
                      [self = this->shared_from_this(), message](error_code code, std::size_t) {
                        if (code) return;
                        if (!self->keep_alive_) return self->close();
                        self->read();
                      });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
  }

  Impl& server_;
  beast::basic_stream<Protocol> stream_;
  beast::flat_buffer buffer_{std::size_t{2} * most_head_bytes};
  std::optional<http::request_parser<http::empty_body>> parser_{};
  bool keep_alive_ = true;
  bool is_old_ = false;
};

Server::Server(const ServerOptions& options, LiveSource& source, base::Clock& clock)
    : impl_(std::make_unique<Impl>(options, source, clock)) {}

Server::~Server() = default;

std::string Server::url() const {
  return fmt::format("http://127.0.0.1:{}/", impl_->port());
}

const std::string& Server::token() const {
  return impl_->site().token();
}

std::string Server::url_for_browser() const {
  return url() + "#c=" + impl_->site().make_code();
}

std::uint16_t Server::port() const {
  return impl_->port();
}

void Server::run() {
  impl_->run();
}

void Server::end() {
  impl_->end();
}

}  // namespace sabath::serve
