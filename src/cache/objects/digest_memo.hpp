#pragma once

#include <sabath/base/digest.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sys/stat.h>

namespace sabath::cache {

/// This user's notes on verified files, in up to some hundred append-only files. A note is a hash
/// over the digest and the fingerprint of the file. Only an equal fingerprint vouches, so that a
/// torn note vouches for nothing. Without notes, or where others could write them, each use hashes
/// the file. Thread safety: any thread.
class Memo {
 public:
  enum class Kind { object, tree, record };

  Memo(const std::filesystem::path& private_directory, const std::filesystem::path& cache_root);

  bool vouches(Kind kind, const base::Digest& digest, std::string_view fingerprint) const;
  void remember(Kind kind, const base::Digest& digest, std::string_view fingerprint) const;
  void forget(Kind kind, const base::Digest& digest) const;

 private:
  struct Shard {
    std::unordered_map<std::string, std::string> notes{};  ///< digest -> hash; the last one counts
    // Of the file that was read, to notice additions of other processes.
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;
  };

  bool is_private() const;
  Shard& loaded(const std::string& name) const;
  void read(const std::filesystem::path& path, Shard& shard) const;
  void append(const std::string& name, Shard& shard, const std::string& line) const;

  std::filesystem::path folder_;  ///< of this one cache
  mutable std::mutex mutex_;
  mutable std::optional<bool> is_private_;  ///< once the folder exists
  mutable std::map<std::string, Shard> shards_;
};

}  // namespace sabath::cache
