#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/partial_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <vector>

#include <unistd.h>

namespace sabath::cache {

/// Passes the bytes of `range` to `take`, in blocks, until its end or the file's. Grows `buffer` as
/// needed. Throws Error{storage}.
template <class Take>
void read_range(int fd,
                const std::filesystem::path& path,
                base::ByteRange range,
                std::vector<std::byte>& buffer,
                Take&& take) {
  if (range.begin >= range.end) return;
  const auto block = std::min<std::uint64_t>(1U << 20U, range.size());
  if (buffer.size() < block) buffer.resize(static_cast<std::size_t>(block));
  while (range.begin < range.end) {
    const auto wanted = std::min<std::uint64_t>(buffer.size(), range.size());
    const ssize_t got = ::pread(fd, buffer.data(), wanted, static_cast<off_t>(range.begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno(path.string(), "cannot read", errno);
    if (got == 0) return;
    take(base::ByteView(buffer).first(static_cast<std::size_t>(got)));
    range.begin += static_cast<std::uint64_t>(got);
  }
}

}  // namespace sabath::cache
