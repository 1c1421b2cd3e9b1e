#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sys/stat.h>

namespace sabath::cache {

/// This user's own notes on which files were found right, in some hundred files that are only
/// appended to, so that a cache of many objects costs the home neither as many files nor as many
/// openings. A note is a hash over the digest and the fingerprint that the file had then. Only an
/// exactly equal fingerprint vouches, so a note that was half written or mixed with another, by a
/// crash or by two processes, vouches for nothing. Notes are an accelerator: where they cannot be
/// kept, or where others could write them, everything is hashed each time. All members may be
/// called from any thread.
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
    /// Of the file that was read, to notice what other processes have added since.
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
