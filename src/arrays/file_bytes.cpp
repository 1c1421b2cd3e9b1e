#include "file_bytes.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::arrays {
namespace {

constexpr std::size_t bytes_between_checks = 8U << 20U;

[[noreturn]] void throw_cut_short(const std::string& place) {
  throw base::Error(base::ErrorKind::integrity, place + ": cannot read: it is cut short");
}

void read_all(int fd, const std::string& place, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno(place, "cannot read", errno);
    if (got == 0) throw_cut_short(place);
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string ByteSource::text(std::uint64_t offset, std::uint64_t count) {
  if (offset >= size()) return {};
  std::string text(std::min(count, size() - offset), '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string digest_text(ByteSource& bytes, std::uint64_t from) {
  return digest_text(bytes, {from, std::max(from, bytes.size())});
}

std::string digest_text(ByteSource& bytes, ByteRange part) {
  constexpr std::uint64_t at_once = 1U << 18U;
  base::Hasher hasher;
  for (std::uint64_t at = part.begin; at < part.end; at += at_once)
    hasher.update(bytes.text(at, std::min(at_once, part.end - at)));
  return hasher.finish().text();
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte >> 4)];
    text += digits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

std::optional<std::uint64_t> product_of(std::uint64_t size,
                                        std::span<const std::uint64_t> extents) {
  for (const std::uint64_t extent : extents) {
    if (__builtin_mul_overflow(size, extent, &size)) return std::nullopt;
  }
  return size;
}

void MemoryBytes::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) throw_cut_short("memory");
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

FileBytes::FileBytes(const std::filesystem::path& path, base::ReadLimits limits)
    : place_(path.string()),
      limits_(std::move(limits)),
      fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat facts {};
  if (!fd_ || ::fstat(fd_.get(), &facts) != 0) base::throw_errno(place_, "cannot open", errno);
  if (!S_ISREG(facts.st_mode)) {
    throw base::Error(base::ErrorKind::integrity, place_ + ": cannot read: not a file");
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

void FileBytes::read(std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    limits_.check(place_);
    const std::size_t now = std::min(out.size(), bytes_between_checks);
    read_all(fd_.get(), place_, offset, out.first(now));
    offset += now;
    out = out.subspan(now);
  }
}

SpooledBytes::SpooledBytes() {
  const char* const wanted =
      std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  const std::filesystem::path folder = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code)) {
    throw base::Error(base::ErrorKind::storage,
                      folder.string() + ": is not a folder for temporary files",
                      "set TMPDIR to an existing folder");
  }
  place_ = (folder / "sabath-XXXXXX").string();
  fd_.reset(::mkostemp(place_.data(), O_CLOEXEC));
  if (!fd_) base::throw_errno(place_, "cannot make a temporary file", errno);
  ::unlink(place_.c_str());
}

void SpooledBytes::read(std::uint64_t offset, std::span<std::byte> out) {
  read_all(fd_.get(), place_, offset, out);
}

void SpooledBytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  size_ = std::max(size_, offset + bytes.size());
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) base::throw_errno(place_, "cannot write a temporary file", errno);
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

}  // namespace sabath::arrays
