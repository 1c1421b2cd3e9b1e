#include <sabath/base/error.hpp>
#include <sabath/base/sync_file_system.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::base {

void sync_file_system(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::syncfs(fd.get()) != 0) throw_errno(folder.string(), "cannot write", errno);
}

}  // namespace sabath::base
