#include "hdf5/h5_error.hpp"
#include "hdf5/hdf5_file.hpp"
#include "reader_messages.hpp"
#include "small_arrays.hpp"

#include <sabath/arrays/reader_process.hpp>
#include <sabath/base/process/sandbox.hpp>
#include <sabath/base/unique_fd.hpp>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include <sys/mman.h>
#include <sys/socket.h>

namespace sabath::arrays {
namespace {

/// Unpacking a chunk of 1 GiB takes three times that.
constexpr std::uint64_t most_memory = std::uint64_t{4} << 30U;

struct Closed {};

class ReaderServer {
 public:
  explicit ReaderServer(std::byte* memory) : memory_(memory) {}

  [[noreturn]] void serve() {
    while (true) {
      const MessageHead head = receive_head();
      std::string payload(head.bytes, '\0');
      receive(payload.data(), payload.size());
      try {
        answer(static_cast<Request>(head.what), PayloadReader(payload));
      } catch (const std::bad_alloc&) {
        send(Answer::out_of_memory, {});
      } catch (const base::Error& error) {
        fail(error.kind(), error.what(), error.hint());
      } catch (const std::exception& error) {
        fail(base::ErrorKind::integrity, error.what(), {});
      }
      read_ahead();
    }
  }

 private:
  /// Values read ahead into part `part`.
  struct Ahead {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    bool is_read = false;
  };

  void answer(Request request, PayloadReader payload) {
    switch (request) {
      case Request::open:
        return open(payload.text());
      case Request::close:
        forget();
        file_.reset();
        return send(Answer::done, {});
      case Request::outside:
        return outside(payload.text());
      case Request::read:
        return read(payload);
      case Request::read_texts:
        return read_texts(payload);
      case Request::read_small:
        return read_small(payload);
      case Request::unwritten: {
        const base::ArrayInfo array = payload.array();
        PayloadWriter out;
        out.number(source().unwritten(array, payload.number()));
        return send(Answer::done, out);
      }
    }
    throw base::Error(base::ErrorKind::internal, "reader process: unknown request");
  }

  Hdf5Source& source() const {
    if (!source_) throw base::Error(base::ErrorKind::internal, "reader process: no file is open");
    return *source_;
  }

  /// HDF5 opens files by name: that of the descriptor sent with the request.
  static std::string name_of(const base::UniqueFd& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
  }

  void open(const std::string& place) {
    forget();
    source_ = open_hdf5(name_of(file_), place);
    PayloadWriter out;
    infos_ = source_->list();
    out.number(infos_.size());
    for (const base::ArrayInfo& info : infos_)
      out.array(info);
    send(Answer::done, out);
  }

  void forget() {
    array_.reset();
    infos_.clear();
    source_.reset();
  }

  void outside(const std::string& place) {
    const base::UniqueFd file = std::move(file_);  // needed for this request alone
    PayloadWriter out;
    const auto values = outside_values_of_hdf5(name_of(file), place);
    out.number(values.size());
    for (const base::OutsideValues& one : values) {
      out.text(one.array);
      out.text(one.file);
    }
    send(Answer::done, out);
  }

  void read(PayloadReader& payload) {
    base::ArrayInfo array = payload.array();
    const std::uint64_t first = payload.number();
    const std::uint64_t count = payload.number();
    if (!array_ || *array_ != array) {
      array_ = std::move(array);
      next_ = 0;
      ahead_ = {};
      offset_ = source().offset_in_file(*array_);
    }
    PayloadWriter out;
    if (offset_) {
      out.number(*offset_);
      return send(Answer::in_file, out);
    }
    const bool is_there = ahead_.is_read && ahead_.first == first && ahead_.count == count;
    part_ = 1 - part_;
    ahead_ = {};
    if (!is_there) fill(first, count);
    // A reader of one part after the other will request the next.
    const bool is_sequence = first == next_ && first > 0;
    next_ = first + count;
    if (is_sequence) ahead_ = {next_, std::min(count, array_->elements() - next_), false};
    out.number(part_ * part_bytes);
    send(Answer::in_memory, out);
  }

  void read_small(PayloadReader& payload) {
    const std::uint64_t first = payload.number();
    send(Answer::done, pack_small_arrays(source(), infos_, first, payload.number()));
  }

  void fill(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t size = base::size_of(array_->type);
    if (size == 0 || count > part_bytes / size)
      throw base::Error(base::ErrorKind::internal, "reader process: too much is asked for");
    source().read(*array_, first, count, {memory_ + part_ * part_bytes, count * size});
  }

  void read_ahead() {
    if (ahead_.count == 0 || ahead_.is_read || !source_ || !array_) return;
    part_ = 1 - part_;
    try {
      fill(ahead_.first, ahead_.count);
      ahead_.is_read = true;
    } catch (const std::exception&) {
      ahead_ = {};  // it is said when these values are asked for
    }
    part_ = 1 - part_;
  }

  void read_texts(PayloadReader& payload) {
    const base::ArrayInfo array = payload.array();
    const std::uint64_t first = payload.number();
    const auto texts = source().read_texts(array, first, payload.number());
    PayloadWriter out;
    out.number(texts.size());
    for (const std::string& text : texts)
      out.text(text);
    send(Answer::done, out);
  }

  void fail(base::ErrorKind kind, const std::string& message, const std::string& hint) {
    PayloadWriter out;
    out.number(static_cast<std::uint64_t>(kind));
    out.text(message);
    out.text(hint);
    send(Answer::error, out);
  }

  static void send(Answer what, const PayloadWriter& payload) {
    const MessageHead head{static_cast<std::uint32_t>(what), 0, payload.bytes().size()};
    send_all({reinterpret_cast<const char*>(&head), sizeof head});
    send_all(payload.bytes());
  }

  static void send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(base::sandbox_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw Closed{};
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  static void receive(char* to, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t got = ::recv(base::sandbox_socket, to, bytes, MSG_WAITALL);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Closed{};
      to += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }

  /// Reads the head of the next message; keeps the descriptor sent with it.
  MessageHead receive_head() {
    MessageHead head;
    iovec part{&head, sizeof head};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    do {
      got = ::recvmsg(base::sandbox_socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) throw Closed{};
    const cmsghdr* const extra = CMSG_FIRSTHDR(&message);
    if (extra != nullptr && extra->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::copy_n(CMSG_DATA(extra), sizeof fd, reinterpret_cast<unsigned char*>(&fd));
      file_.reset(fd);
    }
    const auto have = static_cast<std::size_t>(got);
    receive(reinterpret_cast<char*>(&head) + have, sizeof head - have);
    return head;
  }

  std::byte* memory_;
  base::UniqueFd file_{};
  std::unique_ptr<Hdf5Source> source_{};
  std::optional<base::ArrayInfo> array_{};  ///< that was read last
  std::optional<std::uint64_t> offset_{};   ///< of its values in the file
  std::uint64_t next_ = 0;                  ///< behind what was read last
  Ahead ahead_{};
  std::size_t part_ = 0;  ///< that was filled last
  std::vector<base::ArrayInfo> infos_{};
};

}  // namespace

int serve_arrays(const char* parent) noexcept {
  try {
    if (!base::enter_sandbox(static_cast<int>(std::strtol(parent, nullptr, 10)), most_memory))
      return 1;
    // Each message would take new pages of the kernel, and give them back.
    // NOLINTBEGIN(concurrency-mt-unsafe): this process has one thread
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
    // NOLINTEND(concurrency-mt-unsafe)
    void* const memory =
        ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, base::sandbox_memory, 0);
    if (memory == MAP_FAILED) return 1;
    ReaderServer(static_cast<std::byte*>(memory)).serve();
  } catch (const Closed&) {
    return 0;
  } catch (...) {
    return 1;
  }
}

}  // namespace sabath::arrays
