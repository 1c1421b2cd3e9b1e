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

LineReader::LineReader(const std::filesystem::path& path, LineEnd end, base::ReadLimits limits)
    : path_(path),
      stream_(path, std::ios::binary),
      end_(end),
      limits_(std::move(limits)),
      buffer_(1U << 18U) {
  if (!stream_) base::throw_errno(path.string(), "cannot read", errno);
}

bool LineReader::next() {
  if (is_endless_) return false;
  line_.clear();
  is_overlong_ = false;
  bool any = false;
  std::uint64_t line_bytes = 0;
  while (true) {
    if (at_ == filled_ && !refill()) {
      number_ += any ? 1 : 0;
      return any;
    }
    any = true;
    const char* begin = buffer_.data() + at_;
    const char* end = buffer_.data() + filled_;
    const char* stop = find_end(begin, end, end_);
    const auto length = static_cast<std::size_t>(stop - begin);
    const std::size_t room = max_line_bytes - line_.size();
    line_.append(begin, std::min(length, room));
    is_overlong_ = is_overlong_ || length > room;
    at_ += length;
    line_bytes += length;
    is_endless_ = end_ == LineEnd::newline && line_bytes >= endless_line_bytes;
    if (stop == end && !is_endless_) continue;
    if (stop != end) ++at_;
    ++number_;
    return true;
  }
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
