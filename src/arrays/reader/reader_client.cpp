#include "reader_client.hpp"

#include "file_bytes.hpp"
#include "reader_connection.hpp"
#include "reader_messages.hpp"
#include "small_arrays.hpp"

#include <sabath/base/process/reader_ended.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sabath::arrays {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::uint64_t bytes_per_second = 1U << 20U;
/// Limit for several small arrays; beyond it they are read one by one.
constexpr std::chrono::milliseconds time_for_several{100};
/// Each timeout halves the limit, down to this.
constexpr seconds shortest_time{1};
/// A file is given up after so many ends of processes, or timeouts.
constexpr int most_ends = 64;
constexpr int most_timeouts = 16;
constexpr std::size_t most_idle = 4;
/// Short texts per request, even if the caller wants fewer.
constexpr std::uint64_t more_texts = 4096;

/// Processes that have closed their file and wait for the next: to start one takes as long as to
/// compare a small file.
class IdleReaders {
 public:
  static IdleReaders& of_this_process() {
    static IdleReaders idle;
    return idle;
  }

  std::unique_ptr<ReaderConnection> take() {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      if (reader->is_idle()) return reader;
    }
    auto reader = std::make_unique<ReaderConnection>();
    // A comparison has two sides: the second process starts while the first one reads.
    if (!std::exchange(has_started_, true)) idle_.push_back(std::make_unique<ReaderConnection>());
    return reader;
  }

  void give(std::unique_ptr<ReaderConnection> reader) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(reader));
  }

 private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<ReaderConnection>> idle_{};
  bool has_started_ = false;
};

/// A file open in a reader process, which is replaced when it ends.
class FileApart final : public base::ArraySource {
 public:
  FileApart(const std::filesystem::path& path, const std::string& place, base::ReadLimits limits)
      : place_(place.empty() ? path.string() : place), bytes_(path) {
    limits_.limits = std::move(limits);
    limits_.processor += seconds(bytes_.size() / bytes_per_second);
  }

  ~FileApart() override {
    // A file that HDF5 refuses may have harmed the process that read it.
    if (!reader_ || has_failed_) return;
    try {
      reader_->ask(Request::close, {}, limits_);
      reader_->set_used();
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
      const auto reply = reader_->ask(Request::outside, place(), limits_, bytes_.descriptor());
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
      const auto reply = reader_->ask(Request::unwritten, request, limits_);
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
    const auto found = std::ranges::lower_bound(infos_, key_of(array), {}, base::key_of);
    if (found == infos_.end() || *found != array) return std::nullopt;
    const auto index = static_cast<std::uint64_t>(found - infos_.begin());
    if (small_.has(index)) return index;
    with_reader(array.path, [&] {
      if (!reads_several_) return;
      has_read_several_ = true;
      PayloadWriter request;
      request.number(index);
      request.number(small_.next_count(index));
      RequestLimits limits = limits_;
      limits.processor = std::min<nanoseconds>(limits.processor, time_for_several);
      const auto now = steady_clock::now();
      limits.limits.until = now + (limits.limits.until - now) / 4;  // some is left for each
      auto reply = reader_->ask(Request::read_small, request, limits);
      small_.unpack(std::move(reply.payload), infos_, index);
    });
    return index;
  }

  void read_more_texts(const base::ArrayInfo& array, std::uint64_t first, std::uint64_t count) {
    const auto reply = reader_->ask(Request::read_texts, range(array, first, count), limits_);
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
    const auto reply = reader_->ask(Request::read, range(array, first, count), limits_);
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
    const auto reply = reader_->ask(Request::open, place(), limits_, bytes_.descriptor());
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

  /// Does the work with a process; repeats it with a new one where that may help.
  template <class Work>
  std::invoke_result_t<Work> without_file(const std::string& array, const Work& work) {
    if (!given_up_.empty()) throw base::ReaderEnded(place_, array, given_up_);
    for (bool is_again = false;; is_again = true) {
      try {
        if (!reader_)
          reader_ = is_again ? std::make_unique<ReaderConnection>()
                             : IdleReaders::of_this_process().take();
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
      limits_.processor = std::max<nanoseconds>(limits_.processor / 2, shortest_time);
    }
    if (++ends_ >= most_ends || timeouts_ >= most_timeouts)
      given_up_ =
          "other parts of the file ended the reader process " + std::to_string(ends_) + " times";
  }

  std::string place_;
  FileBytes bytes_;
  RequestLimits limits_{};
  std::unique_ptr<ReaderConnection> reader_{};
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
