#include "reader_client.hpp"

#include "file_bytes.hpp"
#include "reader_messages.hpp"
#include "small_arrays.hpp"

#include <sabath/arrays/reader_process.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/process/reader_ended.hpp>
#include <sabath/base/process/sandbox.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace sabath::arrays {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// Processor time for one request: an object of HDF5 takes hundreds of bytes of the file and
/// microseconds, so whatever takes longer than this does not end.
constexpr seconds least_time{10};
constexpr std::uint64_t bytes_per_second = 1U << 20U;
/// The same in time on the wall, which a slow file system takes.
constexpr int wall_factor = 30;
constexpr std::chrono::milliseconds between_looks{50};
/// For several small arrays; where it is exceeded they are read one by one.
constexpr std::chrono::milliseconds time_for_several{100};
/// Each time that it is exceeded the time is halved, down to this.
constexpr seconds shortest_time{1};
/// A file for which so many processes ended, or that exceeded the time so often, is given up.
constexpr int most_ends = 64;
constexpr int most_timeouts = 16;
constexpr std::uint64_t longest_answer = std::uint64_t{1} << 30U;
constexpr std::size_t most_idle = 4;
/// How many short texts one request asks for, also where the caller wants fewer.
constexpr std::uint64_t more_texts = 4096;

/// How long one request may take.
struct Patience {
  nanoseconds processor = least_time;
  base::ReadLimits limits{};
};

/// The process ended, or was ended, instead of answering.
struct NoAnswer {
  std::string how{};
  bool is_timeout = false;
  bool may_be_chance = false;  ///< it was killed from outside, or had read other files before
};

/// One process, and the protocol with it.
class ReaderClient {
 public:
  ReaderClient() : process_(reader_command, shared_bytes) {}

  bool is_idle() const noexcept { return process_.is_idle(); }
  const std::byte* memory() const noexcept { return process_.memory(); }
  void has_served() noexcept { is_new_ = false; }

  struct Reply {
    Answer what = Answer::done;
    std::string payload{};
  };

  /// Throws NoAnswer, and the Error that was the answer. `fd` goes with the request, if there is
  /// one.
  Reply ask(Request request, const PayloadWriter& payload, const Patience& patience, int fd = -1) {
    if (patience.limits.stop.stop_requested()) throw_interrupted();
    begin_ = steady_clock::now();
    processor_begin_ = process_.processor_time();
    const MessageHead head{static_cast<std::uint32_t>(request), 0, payload.bytes().size()};
    send_head(head, fd, patience);
    send(payload.bytes(), patience);
    Reply reply = receive(patience);
    if (reply.what == Answer::out_of_memory) {
      process_.kill();
      throw NoAnswer{"needed more than 4 GiB of memory", false, false};
    }
    if (reply.what == Answer::error) throw_answer(reply.payload);
    return reply;
  }

 private:
  [[noreturn]] static void throw_answer(const std::string& payload) {
    PayloadReader reader(payload);
    const auto kind = static_cast<base::ErrorKind>(
        std::min<std::uint64_t>(reader.number(), static_cast<int>(base::ErrorKind::internal)));
    const std::string message = reader.text();
    throw base::Error(kind, message, reader.text());
  }

  [[noreturn]] void throw_interrupted() {
    process_.kill();
    throw base::Error(base::ErrorKind::interrupted, "interrupted while a file was read");
  }

  /// Waits until the socket is ready for `events`, within the limits.
  void wait_for(short events, const Patience& patience) {
    while (true) {
      pollfd state{process_.socket(), events, 0};
      if (::poll(&state, 1, static_cast<int>(between_looks.count())) > 0) return;
      check(patience);
    }
  }

  void check(const Patience& patience) {
    const auto now = steady_clock::now();
    if (patience.limits.stop.stop_requested()) throw_interrupted();
    if (now >= patience.limits.until) {
      process_.kill();
      throw NoAnswer{"was ended: the time for this file is over", true, false};
    }
    const bool is_over = process_.processor_time() - processor_begin_ > patience.processor ||
                         now - begin_ > wall_factor * patience.processor;
    if (!is_over) return;
    process_.kill();
    throw NoAnswer{
        "took more than its limit of " + base::format_duration(patience.processor), true, !is_new_};
  }

  [[noreturn]] void throw_ended() {
    process_.kill();
    std::string how = process_.wait_for_end();
    throw NoAnswer{std::move(how), false, !is_new_ || process_.was_killed()};
  }

  void send_head(const MessageHead& head, int fd, const Patience& patience) {
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
      wait_for(POLLOUT, patience);
    }
  }

  void send(std::string_view bytes, const Patience& patience) {
    while (!bytes.empty()) {
      const ssize_t sent =
          ::send(process_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) {
        wait_for(POLLOUT, patience);
        continue;
      }
      if (sent <= 0) throw_ended();
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void receive(char* to, std::size_t bytes, const Patience& patience) {
    while (bytes > 0) {
      const ssize_t got = ::recv(process_.socket(), to, bytes, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) {
        wait_for(POLLIN, patience);
        continue;
      }
      if (got <= 0) throw_ended();
      to += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }

  Reply receive(const Patience& patience) {
    MessageHead head;
    receive(reinterpret_cast<char*>(&head), sizeof head, patience);
    const bool is_known = head.what >= static_cast<std::uint32_t>(Answer::done) &&
                          head.what <= static_cast<std::uint32_t>(Answer::out_of_memory);
    if (!is_known || head.bytes > longest_answer) {
      process_.kill();
      throw NoAnswer{"sent a malformed message", false, !is_new_};
    }
    Reply reply{static_cast<Answer>(head.what), std::string(head.bytes, '\0')};
    receive(reply.payload.data(), reply.payload.size(), patience);
    return reply;
  }

  base::SandboxProcess process_;
  bool is_new_ = true;
  steady_clock::time_point begin_{};
  nanoseconds processor_begin_{};
};

/// Processes that have closed their file and wait for the next: to start one takes as long as to
/// compare a small file.
class IdleReaders {
 public:
  static IdleReaders& of_this_process() {
    static IdleReaders idle;
    return idle;
  }

  std::unique_ptr<ReaderClient> take() {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      if (reader->is_idle()) return reader;
    }
    auto reader = std::make_unique<ReaderClient>();
    // A comparison has two sides: the second process starts while the first one reads.
    if (!std::exchange(has_started_, true)) idle_.push_back(std::make_unique<ReaderClient>());
    return reader;
  }

  void give(std::unique_ptr<ReaderClient> reader) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(reader));
  }

 private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<ReaderClient>> idle_{};
  bool has_started_ = false;
};

/// A file that a reader process has open, and another one when that has ended.
class FileApart final : public base::ArraySource {
 public:
  FileApart(const std::filesystem::path& path, const std::string& place, base::ReadLimits limits)
      : place_(place.empty() ? path.string() : place), bytes_(path) {
    patience_.limits = std::move(limits);
    patience_.processor += seconds(bytes_.size() / bytes_per_second);
  }

  ~FileApart() override {
    // A file that HDF5 refuses may have harmed the process that read it.
    if (!reader_ || has_failed_) return;
    try {
      reader_->ask(Request::close, {}, patience_);
      reader_->has_served();
      IdleReaders::of_this_process().give(std::move(reader_));
    } catch (...) {
      reader_.reset();
    }
  }
  FileApart(const FileApart&) = delete;
  FileApart& operator=(const FileApart&) = delete;

  void open() {
    infos_ = with_reader("", [&] { return std::move(opened_); });
  }

  std::vector<base::OutsideValues> outside() {
    return without_file("", [&] {
      const auto reply = reader_->ask(Request::outside, place(), patience_, bytes_.descriptor());
      PayloadReader reader(reply.payload);
      std::vector<base::OutsideValues> values(reader.count());
      for (base::OutsideValues& one : values) {
        one.array = reader.text();
        one.file = reader.text();
      }
      return values;
    });
  }

  std::vector<base::ArrayInfo> list() override { return infos_; }

  void read(const base::ArrayInfo& array,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    const std::uint64_t size = base::size_of(array.type);
    const std::uint64_t elements = array.elements();
    if (size == 0 || first > elements || count > elements - first || out.size() != count * size) {
      throw base::Error(base::ErrorKind::internal,
                        at(array) + ": cannot read: range or buffer do not fit the array");
    }
    if (const auto index = small_index(array); index && small_.read(*index, first * size, out))
      return;
    while (count > 0) {
      if (plain_ && *plain_ == array) return bytes_.read(plain_offset_ + first * size, out);
      const std::uint64_t now = std::min(count, part_bytes / size);
      const bool is_read =
          with_reader(array.path, [&] { return read_part(array, first, now, out); });
      if (!is_read) continue;
      first += now;
      count -= now;
      out = out.subspan(now * size);
    }
  }

  std::vector<std::string> read_texts(const base::ArrayInfo& array,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    std::vector<std::string> small;
    const auto index = small_index(array);
    if (index && small_.read_texts(*index, first, count, small)) return small;
    if (texts_.array != array || first < texts_.first ||
        first - texts_.first >= texts_.texts.size()) {
      const std::uint64_t behind = array.elements() - std::min(first, array.elements());
      with_reader(array.path, [&] {
        read_more_texts(array, first, std::max(count, std::min(behind, more_texts)));
      });
    }
    const auto begin = texts_.texts.begin() + static_cast<std::ptrdiff_t>(first - texts_.first);
    const auto left = static_cast<std::uint64_t>(texts_.texts.end() - begin);
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(left, count))};
  }

  std::uint64_t unwritten(const base::ArrayInfo& array, std::uint64_t first) override {
    return with_reader(array.path, [&] {
      PayloadWriter request;
      request.array(array);
      request.number(first);
      const auto reply = reader_->ask(Request::unwritten, request, patience_);
      return PayloadReader(reply.payload).number();
    });
  }

 private:
  std::string at(const base::ArrayInfo& array) const { return place_ + ":/" + array.path; }

  PayloadWriter place() const {
    PayloadWriter request;
    request.text(place_);
    return request;
  }

  static PayloadWriter range(const base::ArrayInfo& array,
                             std::uint64_t first,
                             std::uint64_t count) {
    PayloadWriter request;
    request.array(array);
    request.number(first);
    request.number(count);
    return request;
  }

  /// Where the array stands in the list if it is small, after it was read together with those
  /// behind it.
  std::optional<std::uint64_t> small_index(const base::ArrayInfo& array) {
    if (!reads_several_ || !is_small(array)) return std::nullopt;
    const auto key = [](const base::ArrayInfo& info) {
      return std::tie(info.path, info.is_attribute);
    };
    const auto found = std::ranges::lower_bound(infos_, key(array), {}, key);
    if (found == infos_.end() || *found != array) return std::nullopt;
    const auto index = static_cast<std::uint64_t>(found - infos_.begin());
    if (small_.has(index)) return index;
    with_reader(array.path, [&] {
      if (!reads_several_) return;
      has_read_several_ = true;
      PayloadWriter request;
      request.number(index);
      request.number(small_.next_count(index));
      Patience patience = patience_;
      patience.processor = std::min<nanoseconds>(patience.processor, time_for_several);
      const auto now = steady_clock::now();
      patience.limits.until = now + (patience.limits.until - now) / 4;  // some is left for each
      auto reply = reader_->ask(Request::read_small, request, patience);
      small_.unpack(std::move(reply.payload), infos_, index);
    });
    return index;
  }

  void read_more_texts(const base::ArrayInfo& array, std::uint64_t first, std::uint64_t count) {
    const auto reply = reader_->ask(Request::read_texts, range(array, first, count), patience_);
    PayloadReader reader(reply.payload);
    std::vector<std::string> texts(reader.count());
    for (std::string& text : texts)
      text = reader.text();
    if (texts.size() > count) texts.resize(count);
    texts_ = {array, first, std::move(texts)};
  }

  /// Takes `count` values out of the shared memory. False where they are to be had from the file
  /// itself, at `plain_offset_`.
  bool read_part(const base::ArrayInfo& array,
                 std::uint64_t first,
                 std::uint64_t count,
                 std::span<std::byte> out) {
    const auto reply = reader_->ask(Request::read, range(array, first, count), patience_);
    const std::uint64_t offset = PayloadReader(reply.payload).number();
    if (reply.what == Answer::in_file) {
      plain_ = array;
      plain_offset_ = offset;
      return false;
    }
    const std::uint64_t bytes = count * base::size_of(array.type);
    if (reply.what != Answer::in_memory || offset > shared_bytes || bytes > shared_bytes - offset)
      throw NoAnswer{"sent a malformed message", false, false};
    std::memcpy(out.data(), reader_->memory() + offset, bytes);
    return true;
  }

  void open_with_reader() {
    opened_.clear();
    const auto reply = reader_->ask(Request::open, place(), patience_, bytes_.descriptor());
    PayloadReader reader(reply.payload);
    opened_.resize(reader.count());
    for (base::ArrayInfo& info : opened_)
      info = reader.array();
    is_open_ = true;
  }

  template <class Work>
  std::invoke_result_t<Work> with_reader(const std::string& array, const Work& work) {
    return without_file(array, [&]() -> std::invoke_result_t<Work> {
      if (!is_open_) open_with_reader();
      return work();
    });
  }

  /// Does the work with a process, once more with a new one where that may be of use.
  template <class Work>
  std::invoke_result_t<Work> without_file(const std::string& array, const Work& work) {
    if (!given_up_.empty()) throw base::ReaderEnded(place_, array, given_up_);
    for (bool is_again = false;; is_again = true) {
      try {
        if (!reader_)
          reader_ =
              is_again ? std::make_unique<ReaderClient>() : IdleReaders::of_this_process().take();
        return work();
      } catch (const NoAnswer& none) {
        end_reader();
        // It may have ended over another array than this one: the next one reads them one by one.
        const bool may_be_another = std::exchange(has_read_several_, false);
        if (may_be_another) reads_several_ = false;
        if ((none.may_be_chance || may_be_another) && !is_again) continue;
        note_end(none);
        throw base::ReaderEnded(place_, array, "the reader process " + none.how);
      } catch (const base::Error& error) {
        has_failed_ = true;
        if (error.kind() == base::ErrorKind::interrupted) end_reader();
        throw;
      }
    }
  }

  void end_reader() {
    reader_.reset();
    is_open_ = has_failed_ = false;
  }

  void note_end(const NoAnswer& none) {
    if (none.is_timeout) {
      ++timeouts_;
      patience_.processor = std::max<nanoseconds>(patience_.processor / 2, shortest_time);
    }
    if (++ends_ >= most_ends || timeouts_ >= most_timeouts)
      given_up_ =
          "other parts of the file ended the reader process " + std::to_string(ends_) + " times";
  }

  std::string place_;
  FileBytes bytes_;
  Patience patience_{};
  std::unique_ptr<ReaderClient> reader_{};
  bool is_open_ = false;
  bool has_failed_ = false;  ///< the present process has answered with an error
  std::vector<base::ArrayInfo> opened_{};
  std::vector<base::ArrayInfo> infos_{};
  std::optional<base::ArrayInfo> plain_{};  ///< values lie at `plain_offset_` in the file
  std::uint64_t plain_offset_ = 0;
  SmallArrays small_{};
  struct {
    std::optional<base::ArrayInfo> array{};
    std::uint64_t first = 0;
    std::vector<std::string> texts{};
  } texts_{};                      ///< that were read last
  bool reads_several_ = true;      ///< small arrays in one go
  bool has_read_several_ = false;  ///< by the present process
  int ends_ = 0;
  int timeouts_ = 0;
  std::string given_up_{};
};

}  // namespace

std::unique_ptr<base::ArraySource> open_hdf5_apart(const std::filesystem::path& path,
                                                   const std::string& place,
                                                   const base::ReadLimits& limits) {
  auto source = std::make_unique<FileApart>(path, place, limits);
  source->open();
  return source;
}

std::vector<base::OutsideValues> outside_values_apart(const std::filesystem::path& path,
                                                      const base::ReadLimits& limits) {
  return FileApart(path, {}, limits).outside();
}

}  // namespace sabath::arrays
