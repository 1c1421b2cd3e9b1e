#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/home/heartbeat.hpp>

#include <algorithm>
#include <string>

#include <unistd.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

fs::file_time_type now_there(const fs::path& scratch) {
  const fs::path file = scratch / (".now-" + std::to_string(::getpid()));
  base::write_file_atomically(file, "", base::Durability::ordered_only);
  std::error_code code;
  const fs::file_time_type now = fs::last_write_time(file, code);
  if (code) base::throw_errno(file.string(), "cannot be looked at", code.value());
  fs::remove(file, code);
  return now;
}

}  // namespace

std::chrono::nanoseconds heartbeat_age(const fs::path& path) {
  std::error_code code;
  const bool is_folder = fs::is_directory(path, code);
  const fs::file_time_type now = now_there(is_folder ? path : path.parent_path());
  fs::file_time_type newest = now - std::chrono::hours(24);
  // Of a folder itself the time has just been changed.
  const auto look = [&](const fs::path& file) {
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(file, gone);
    if (!gone) newest = std::max(newest, time);
  };
  if (!is_folder) look(path);
  for (fs::recursive_directory_iterator at(path, code), end; !code && at != end; at.increment(code))
    look(at->path());
  return std::max(now - newest, fs::file_time_type::duration::zero());
}

}  // namespace sabath::home
