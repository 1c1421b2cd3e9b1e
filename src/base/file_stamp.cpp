#include <sabath/base/file_stamp.hpp>

#include <fmt/format.h>

#include <chrono>

#include <sys/stat.h>

namespace sabath::base {
namespace {

/// File systems with coarse clocks: within this time a second change may leave the same times.
constexpr std::int64_t settled_ns = 2'000'000'000;

std::int64_t nanoseconds_of(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::string FileStamp::text() const {
  return fmt::format("{}:{}:{}:{}", inode, size_bytes, modified_ns, changed_ns);
}

bool FileStamp::is_settled() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count() - changed_ns > settled_ns;
}

FileStamp stamp_from(const struct stat& status) {
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds_of(status.st_mtim),
          nanoseconds_of(status.st_ctim)};
}

std::optional<FileStamp> stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return stamp_from(status);
}

std::optional<FileStamp> stamp_of_any(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return stamp_from(status);
}

}  // namespace sabath::base
