#include "reader_connection.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace sabath::arrays {
namespace {

using std::chrono::steady_clock;

/// Limit of the time on the wall, as a multiple of the processor time: file systems are slow.
constexpr int wall_factor = 30;
constexpr std::chrono::milliseconds between_looks{50};
constexpr std::uint64_t longest_answer = std::uint64_t{1} << 30U;

[[noreturn]] void throw_answer(const std::string& payload) {
  PayloadReader reader(payload);
  const auto kind = static_cast<base::ErrorKind>(
      std::min<std::uint64_t>(reader.number(), static_cast<int>(base::ErrorKind::internal)));
  const std::string message = reader.text();
  throw base::Error(kind, message, reader.text());
}

}  // namespace

ReaderConnection::Reply ReaderConnection::ask(Request request,
                                              const PayloadWriter& payload,
                                              const RequestLimits& limits,
                                              int fd) {
  if (limits.limits.stop.stop_requested()) throw_interrupted();
  begin_ = steady_clock::now();
  processor_begin_ = process_.processor_time();
  const MessageHead head{static_cast<std::uint32_t>(request), 0, payload.bytes().size()};
  send_head(head, fd, limits);
  send(payload.bytes(), limits);
  Reply reply = receive(limits);
  if (reply.what == Answer::out_of_memory) {
    process_.kill();
    throw NoAnswer{"needed more than 4 GiB of memory", false, false};
  }
  if (reply.what == Answer::error) throw_answer(reply.payload);
  return reply;
}

void ReaderConnection::throw_interrupted() {
  process_.kill();
  throw base::Error(base::ErrorKind::interrupted, "interrupted while a file was read");
}

void ReaderConnection::wait_for(short events, const RequestLimits& limits) {
  while (true) {
    pollfd state{process_.socket(), events, 0};
    if (::poll(&state, 1, static_cast<int>(between_looks.count())) > 0) return;
    check(limits);
  }
}

void ReaderConnection::check(const RequestLimits& limits) {
  const auto now = steady_clock::now();
  if (limits.limits.stop.stop_requested()) throw_interrupted();
  if (now >= limits.limits.until) {
    process_.kill();
    throw NoAnswer{"was ended: the time for this file is over", true, false};
  }
  const bool is_over = process_.processor_time() - processor_begin_ > limits.processor ||
                       now - begin_ > wall_factor * limits.processor;
  if (!is_over) return;
  process_.kill();
  throw NoAnswer{
      "took more than its limit of " + base::format_duration(limits.processor), true, !is_new_};
}

void ReaderConnection::throw_ended() {
  process_.kill();
  std::string how = process_.wait_for_end();
  throw NoAnswer{std::move(how), false, !is_new_ || process_.was_killed()};
}

void ReaderConnection::send_head(const MessageHead& head, int fd, const RequestLimits& limits) {
  iovec part{const_cast<MessageHead*>(&head), sizeof head};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const extra = CMSG_FIRSTHDR(&message);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(extra), &fd, sizeof fd);
  }
  while (true) {
    const ssize_t sent = ::sendmsg(process_.socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(sizeof head)) return;
    if (sent < 0 && errno == EINTR) continue;
    if (sent >= 0 || errno != EAGAIN) throw_ended();
    wait_for(POLLOUT, limits);
  }
}

void ReaderConnection::send(std::string_view bytes, const RequestLimits& limits) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(process_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      wait_for(POLLOUT, limits);
      continue;
    }
    if (sent <= 0) throw_ended();
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void ReaderConnection::receive(char* to, std::size_t bytes, const RequestLimits& limits) {
  while (bytes > 0) {
    const ssize_t got = ::recv(process_.socket(), to, bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      wait_for(POLLIN, limits);
      continue;
    }
    if (got <= 0) throw_ended();
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

ReaderConnection::Reply ReaderConnection::receive(const RequestLimits& limits) {
  MessageHead head;
  receive(reinterpret_cast<char*>(&head), sizeof head, limits);
  const bool is_known = head.what >= static_cast<std::uint32_t>(Answer::done) &&
                        head.what <= static_cast<std::uint32_t>(Answer::out_of_memory);
  if (!is_known || head.bytes > longest_answer) {
    process_.kill();
    throw NoAnswer{"sent a malformed message", false, !is_new_};
  }
  Reply reply{static_cast<Answer>(head.what), std::string(head.bytes, '\0')};
  receive(reply.payload.data(), reply.payload.size(), limits);
  return reply;
}

}  // namespace sabath::arrays
