#include "hash_files.hpp"

#include "file_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>

namespace sabath::cache {
namespace {

std::optional<FileDigest> digest_of(const std::filesystem::path& file) {
  try {
    const auto status = link_status(file);
    if (!status || !S_ISREG(status->st_mode)) return std::nullopt;
    const HashedFile hashed = hash_file(file);
    return FileDigest{hashed.digest, static_cast<std::uint64_t>(hashed.status.st_size)};
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::optional<FileDigest>> hash_files(const std::vector<std::filesystem::path>& files) {
  std::vector<std::optional<FileDigest>> digests(files.size());
  base::for_each_in_parallel(files.size(),
                             [&](std::size_t i) { digests[i] = digest_of(files[i]); });
  return digests;
}

}  // namespace sabath::cache
