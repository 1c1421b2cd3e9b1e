#pragma once

#include "digester.hpp"
#include "write_blocks.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace sabath::cache {

/// Digests of a file while it is written: hashes the prefix without gaps as it grows. The writer
/// hashes small files; for larger ones a thread follows, so that digests need no second pass. It
/// gets blocks from memory, keeps those that it needs first, and reads the others from the file.
/// Without a thread, the writer hashes bytes in order, and `digests` hashes the others.
///
/// Thread safety: one caller. `mutex_` guards all members but the digester and the snapshots. These
/// belong to the thread while `is_hashing_`, else to the holder of the mutex.
class PrefixHasher {
 public:
  /// 24 MiB: the blocks that four connections have under way.
  static constexpr std::size_t most_kept_blocks = 384;

  /// Reads `fd` with pread; `path` is for messages. `fd` and `pool`, which owns the blocks, outlive
  /// this.
  PrefixHasher(int fd,
               std::filesystem::path path,
               const std::vector<base::Digest>& wanted,
               const BlockPool& pool);
  ~PrefixHasher() = default;
  PrefixHasher(const PrefixHasher&) = delete;
  PrefixHasher& operator=(const PrefixHasher&) = delete;

  bool computes(base::DigestAlgorithm algorithm) const { return digester_.computes(algorithm); }
  /// The first `prefix_bytes` of the file are complete; `block` was just written, anywhere.
  void follow(std::uint64_t prefix_bytes, Block block = {});
  /// Forgets the bytes from `offset_bytes` on, which will change; reads them no more.
  void rewind(std::uint64_t offset_bytes);
  /// Waits for the digests of the last prefix and returns them. Throws Error{storage}.
  std::vector<base::Digest> digests();

 private:
  /// Bytes to hash at once: up to `end`, from the blocks if there are any, else from the file.
  struct Portion {
    std::uint64_t end = 0;
    std::vector<Block> blocks{};
  };

  void start();
  void run(const std::stop_token& stop);
  bool has_work() const;
  void keep(Block block);
  Portion next_portion();
  void hash(Portion& portion, std::vector<std::byte>& buffer);

  int fd_;
  std::filesystem::path path_;
  const BlockPool& pool_;
  std::mutex mutex_{};
  std::condition_variable_any work_{};  ///< there are bytes to hash, or it ends
  std::condition_variable resting_{};   ///< a block was hashed
  std::uint64_t prefix_bytes_ = 0;
  std::uint64_t hashed_bytes_ = 0;
  std::map<std::uint64_t, Block> kept_{};  ///< by begin; from `hashed_bytes_` on
  bool is_hashing_ = false;
  bool wants_rest_ = false;  ///< less than a block, too
  std::exception_ptr problem_{};
  Digester digester_;
  std::vector<Digester> snapshots_{};  ///< of earlier states, in order
  std::jthread thread_{};              ///< last: it ends before what it uses
};

}  // namespace sabath::cache
