#include "multiplexer.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace sabath::serve {
namespace {

namespace net = boost::asio;
using boost::system::error_code;

enum class FrameKind : std::uint8_t { open = 1, data = 2, end = 3, grant = 4, reset = 5 };

constexpr std::size_t head_bytes = 9;
constexpr std::size_t most_frame_bytes = 16U << 10U;
constexpr std::uint32_t first_credit = 256U << 10U;
constexpr std::size_t most_channels = 64;

struct FrameHead {
  FrameKind kind{};
  std::uint32_t channel = 0;
  std::uint32_t length = 0;  ///< of the bytes that follow; of a grant the bytes that it grants
};

using HeadBytes = std::array<unsigned char, head_bytes>;

void put_number(unsigned char* to, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i)
    to[i] = static_cast<unsigned char>(number >> (8 * i));
}

std::uint32_t number_at(const unsigned char* from) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= std::uint32_t{from[i]} << (8 * i);
  return number;
}

std::string frame_text(const FrameHead& head, const char* bytes = nullptr) {
  HeadBytes text{};
  text[0] = static_cast<unsigned char>(head.kind);
  put_number(&text[1], head.channel);
  put_number(&text[5], head.length);
  std::string frame(reinterpret_cast<const char*>(text.data()), text.size());
  if (bytes != nullptr) frame.append(bytes, head.length);
  return frame;
}

FrameHead head_of(const HeadBytes& bytes) {
  return {static_cast<FrameKind>(bytes[0]), number_at(&bytes[1]), number_at(&bytes[5])};
}

}  // namespace

class Multiplexer::Impl {
 public:
  Impl(int from, int to, Accept accept)
      : from_(io_, ::dup(from)), to_(io_, ::dup(to)), accept_(std::move(accept)) {}

  void open(int socket) {
    net::post(io_, [this, socket] {
      if (channels_.size() >= most_channels) {
        ::close(socket);
        return;
      }
      const std::uint32_t number = ++last_number_;
      send(frame_text({FrameKind::open, number, 0}), nullptr);
      add_channel(number, socket);
    });
  }

  std::string run() {
    read_head();
    io_.run();
    return problem_;
  }

  void end() { io_.stop(); }

 private:
  using Socket = net::generic::stream_protocol::socket;

  struct Channel {
    Channel(net::io_context& io, std::uint32_t its_number, int descriptor)
        : number(its_number),
          socket(io, net::generic::stream_protocol(family(descriptor), 0), descriptor) {}

    static int family(int descriptor) {
      sockaddr_storage address{};
      socklen_t size = sizeof(address);
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
      return address.ss_family;
    }

    std::uint32_t number;
    Socket socket;
    std::array<char, most_frame_bytes> buffer{};
    std::uint32_t credit = first_credit;  ///< bytes that may be sent
    std::uint32_t waiting = 0;            ///< bytes that came and are not yet written
    std::deque<std::string> to_write{};
    bool is_reading = false;
    bool is_writing = false;
    bool has_sent_end = false;
    bool has_received_end = false;
  };
  using ChannelPtr = std::shared_ptr<Channel>;

  struct Outgoing {
    std::string text{};
    ChannelPtr then_read{};  ///< reads on once this is written
  };

  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
    io_.stop();
  }

  void add_channel(std::uint32_t number, int socket) {
    auto channel = std::make_shared<Channel>(io_, number, socket);
    channels_[number] = channel;
    read_from(channel);
  }

  // What the other side sends.

  void read_head() {
    net::async_read(from_, net::buffer(head_), [this](error_code code, std::size_t) {
      if (code) return io_.stop();  // the other side is gone
      const FrameHead head = head_of(head_);
      if (head.kind != FrameKind::data) {
        take(head);
        return read_head();
      }
      if (head.length > most_frame_bytes) return fail("a frame is too long");
      body_.resize(head.length);
      net::async_read(from_, net::buffer(body_), [this, head](error_code body_code, std::size_t) {
        if (body_code) return io_.stop();
        take_data(head);
        read_head();
      });
    });
  }

  void take(const FrameHead& head) {
    const auto found = channels_.find(head.channel);
    if (head.kind == FrameKind::open) {
      const int socket =
          found == channels_.end() && channels_.size() < most_channels ? accept_() : -1;
      if (socket >= 0) return add_channel(head.channel, socket);
      return send(frame_text({FrameKind::end, head.channel, 0}), nullptr);
    }
    if (head.kind < FrameKind::end || head.kind > FrameKind::reset)
      return fail("a frame has an unknown kind");
    if (found == channels_.end()) return;
    const ChannelPtr channel = found->second;
    if (head.kind == FrameKind::grant) {
      channel->credit =
          std::min(first_credit, channel->credit + std::min(head.length, first_credit));
      return read_from(channel);
    }
    if (head.kind == FrameKind::reset) {
      // Nobody reads what this side still has.
      channels_.erase(found);
      error_code ignored;
      channel->socket.close(ignored);
      return;
    }
    channel->has_received_end = true;
    write_to(channel);
  }

  void take_data(const FrameHead& head) {
    const auto found = channels_.find(head.channel);
    if (found == channels_.end()) return;
    const ChannelPtr channel = found->second;
    channel->waiting += head.length;
    if (channel->waiting > first_credit) return fail("a channel sent more than it was granted");
    channel->to_write.emplace_back(body_.begin(), body_.end());
    write_to(channel);
  }

  void write_to(const ChannelPtr& channel) {
    if (channel->is_writing) return;
    if (channel->to_write.empty()) {
      if (!channel->has_received_end) return;
      error_code ignored;
      channel->socket.shutdown(Socket::shutdown_send, ignored);
      return close_if_over(channel);
    }
    channel->is_writing = true;
    net::async_write(channel->socket,
                     net::buffer(channel->to_write.front()),
                     [this, channel](error_code code, std::size_t size) {
                       channel->is_writing = false;
                       if (code) return drop(channel);
                       channel->to_write.pop_front();
                       const auto granted = static_cast<std::uint32_t>(size);
                       channel->waiting -= granted;
                       send(frame_text({FrameKind::grant, channel->number, granted}), nullptr);
                       write_to(channel);
                     });
  }

  // What this side sends.

  void read_from(const ChannelPtr& channel) {
    if (channel->is_reading || channel->credit == 0 || channel->has_sent_end) return;
    channel->is_reading = true;
    const std::size_t size = std::min<std::size_t>(channel->buffer.size(), channel->credit);
    channel->socket.async_read_some(
        net::buffer(channel->buffer.data(), size),
        [this, channel](error_code code, std::size_t got) {
          if (code || got == 0) {
            channel->is_reading = false;
            if (code && code != net::error::eof) return drop(channel);
            channel->has_sent_end = true;
            send(frame_text({FrameKind::end, channel->number, 0}), nullptr);
            return close_if_over(channel);
          }
          const auto length = static_cast<std::uint32_t>(got);
          channel->credit -= length;
          // The next read waits for this frame: so channels take turns.
          send(frame_text({FrameKind::data, channel->number, length}, channel->buffer.data()),
               channel);
        });
  }

  void send(std::string text, ChannelPtr then_read) {
    outgoing_.push_back({std::move(text), std::move(then_read)});
    if (outgoing_.size() == 1) write_next();
  }

  void write_next() {
    net::async_write(
        to_, net::buffer(outgoing_.front().text), [this](error_code code, std::size_t) {
          if (code) return io_.stop();
          const ChannelPtr channel = std::move(outgoing_.front().then_read);
          outgoing_.pop_front();
          if (!outgoing_.empty()) write_next();
          if (!channel) return;
          channel->is_reading = false;
          read_from(channel);
        });
  }

  void close_if_over(const ChannelPtr& channel) {
    const bool is_over = channel->has_sent_end && channel->has_received_end &&
                         channel->to_write.empty() && !channel->is_writing;
    if (is_over) channels_.erase(channel->number);
  }

  /// The connection broke: the other side stops sending.
  void drop(const ChannelPtr& channel) {
    if (channels_.erase(channel->number) == 0) return;
    send(frame_text({FrameKind::reset, channel->number, 0}), nullptr);
    error_code ignored;
    channel->socket.close(ignored);
  }

  net::io_context io_{1};
  net::posix::stream_descriptor from_;
  net::posix::stream_descriptor to_;
  Accept accept_;
  HeadBytes head_{};
  std::vector<char> body_{};
  std::map<std::uint32_t, ChannelPtr> channels_{};
  std::deque<Outgoing> outgoing_{};
  std::uint32_t last_number_ = 0;
  std::string problem_{};
};

Multiplexer::Multiplexer(int from, int to, Accept accept)
    : impl_(std::make_unique<Impl>(from, to, std::move(accept))) {}

Multiplexer::~Multiplexer() = default;

void Multiplexer::open(int socket) {
  impl_->open(socket);
}

std::string Multiplexer::run() {
  return impl_->run();
}

void Multiplexer::end() {
  impl_->end();
}

}  // namespace sabath::serve
