#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sabath::base {

enum class Durability;

/// Reads all of an open file; `path` is for messages. Throws Error{storage}, also for a folder, a
/// pipe, a device and a file larger than `limit_bytes`.
std::string read_descriptor(int fd, const std::filesystem::path& path, std::uint64_t limit_bytes);

/// What a new file gets.
struct NewContent {
  const std::filesystem::path& target;  ///< where it will be, for messages
  std::string_view content;
  Durability durability;
  unsigned mode;
};

/// Writes a file beneath `folder`, a descriptor or AT_FDCWD, in its `place`. Its name cannot be
/// foreseen; `rename` gives it the right one. Removes it where that fails. Returns 0, or the errno
/// of `rename`. Throws Error{storage}.
int write_new_file(int folder,
                   const std::filesystem::path& place,
                   const NewContent& what,
                   const std::function<int(const std::string& name)>& rename);

}  // namespace sabath::base
