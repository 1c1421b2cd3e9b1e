#include "line_reader.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sabath::collect {
namespace {

constexpr std::uint64_t endless_line_bytes = std::uint64_t{64} << 20U;

/// The first end of a line in [begin, end), or `end`. Both searches are the library's vectorised
/// ones.
const char* find_end(const char* begin, const char* end, LineEnd kind) {
  const auto length = static_cast<std::size_t>(end - begin);
  const void* newline = std::memchr(begin, '\n', length);
  if (newline != nullptr) end = static_cast<const char*>(newline);
  if (kind == LineEnd::newline) return end;
  const void* back = std::memchr(begin, '\r', static_cast<std::size_t>(end - begin));
  return back != nullptr ? static_cast<const char*>(back) : end;
}

}  // namespace

LineReader::LineReader(const SourceFile& source, LineEnd end)
    : path_(source.path),
      stream_(source.path, std::ios::binary),
      end_(end),
      limits_(source.limits),
      position_(source.position),
      buffer_(1U << 18U) {
  if (!stream_) base::throw_errno(path_.string(), "cannot read", errno);
  if (position_ == nullptr) return;
  offset_ = position_->offset;
  number_ = position_->number;
  stream_.seekg(static_cast<std::streamoff>(offset_));
}

bool LineReader::next() {
  if (is_endless_) return false;
  line_.clear();
  is_overlong_ = false;
  std::uint64_t line_bytes = 0;
  while (true) {
    if (at_ == filled_ && !refill()) return end_of_file(line_bytes);
    const char* begin = buffer_.data() + at_;
    const char* end = buffer_.data() + filled_;
    const char* stop = find_end(begin, end, end_);
    const auto length = static_cast<std::size_t>(stop - begin);
    const std::size_t room = max_line_bytes - line_.size();
    line_.append(begin, std::min(length, room));
    is_overlong_ = is_overlong_ || length > room;
    pass(length);
    line_bytes += length;
    is_endless_ = end_ == LineEnd::newline && line_bytes >= endless_line_bytes;
    if (stop == end && !is_endless_) continue;
    if (stop != end) pass(1);
    if (is_passed_before()) {
      if (is_endless_) return false;
      line_.clear();
      is_overlong_ = false;
      line_bytes = 0;
      continue;
    }
    ++number_;
    move_position();
    return true;
  }
}

void LineReader::move_position() {
  if (position_ == nullptr) return;
  position_->offset = offset_;
  position_->number = number_;
  position_->is_over = is_endless_;
}

void LineReader::pass(std::size_t bytes) {
  at_ += bytes;
  offset_ += bytes;
}

/// The last line of a file that grows is read when it is complete. One that is too long is read
/// once, and what follows is passed over, lest each call reads it again.
bool LineReader::end_of_file(std::uint64_t line_bytes) {
  if (position_ == nullptr) {
    number_ += line_bytes > 0 ? 1 : 0;
    return line_bytes > 0;
  }
  const bool is_passed = position_->passed_bytes > 0;
  if (!is_passed && !is_overlong_) return false;
  position_->offset = offset_;
  position_->passed_bytes += line_bytes;
  position_->is_over = end_ == LineEnd::newline && position_->passed_bytes >= endless_line_bytes;
  if (is_passed) return false;
  position_->number = ++number_;
  return true;
}

/// Whether this is the rest of a line whose beginning was read before.
bool LineReader::is_passed_before() {
  if (position_ == nullptr || position_->passed_bytes == 0) return false;
  position_->passed_bytes = 0;
  position_->offset = offset_;
  position_->is_over = is_endless_;
  return true;
}

bool LineReader::refill() {
  limits_.check(path_.string());
  stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  // What cannot be read is not the end of the file.
  if (stream_.bad()) base::throw_errno(path_.string(), "cannot read", errno);
  filled_ = static_cast<std::size_t>(stream_.gcount());
  at_ = 0;
  return filled_ > 0;
}

}  // namespace sabath::collect
