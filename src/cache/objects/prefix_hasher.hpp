#pragma once

#include "digester.hpp"
#include "write_blocks.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace sabath::cache {

/// Digests of a file while it is written: its prefix without gaps is hashed as it grows. Small
/// files are hashed from the bytes that were just written; for larger ones a thread of its own
/// follows the writer, so that the digests cost no second pass and no waiting. It gets the blocks
/// as they were in memory, of which those that are needed first are kept, and reads from the file
/// what there was no room for. Where no thread can be had, bytes that come in order are hashed at
/// once by who writes them, the others when the digests are asked for.
///
/// Threads: one caller. `mutex_` guards all members but the digester and the snapshots; these
/// belong to the thread while `is_hashing_`, else to who holds the mutex.
class PrefixHasher {
 public:
  /// 24 MiB: what four connections have under way.
  static constexpr std::size_t most_kept_blocks = 384;

  /// `fd` is read with pread; `path` is for messages. The blocks are of `pool`. Both must outlive
  /// this.
  PrefixHasher(int fd,
               std::filesystem::path path,
               const std::vector<base::Digest>& wanted,
               const BlockPool& pool);
  ~PrefixHasher();
  PrefixHasher(const PrefixHasher&) = delete;
  PrefixHasher& operator=(const PrefixHasher&) = delete;

  bool computes(base::DigestAlgorithm algorithm) const { return digester_.computes(algorithm); }
  /// The first `prefix_bytes` of the file are complete; `block` was just written, anywhere.
  void follow(std::uint64_t prefix_bytes, Block block = {});
  /// The bytes from `offset_bytes` on are about to change; nothing reads them any more.
  void rewind(std::uint64_t offset_bytes);
  /// Of the prefix that `follow` was told of last; waits for them. Throws Error{storage}.
  std::vector<base::Digest> digests();

 private:
  /// What is hashed in one go: up to `end`, from the blocks if there are any, else from the file.
  struct Portion {
    std::uint64_t end = 0;
    std::vector<Block> blocks{};
  };

  void start();
  void run();
  bool has_work() const;
  void keep(Block block);
  Portion next_portion();
  void hash(Portion& portion, std::vector<std::byte>& buffer);

  int fd_;
  std::filesystem::path path_;
  const BlockPool& pool_;
  std::mutex mutex_{};
  std::condition_variable work_{};     ///< there is something to hash, or the end
  std::condition_variable resting_{};  ///< a block was hashed
  std::uint64_t prefix_bytes_ = 0;
  std::uint64_t hashed_bytes_ = 0;
  std::map<std::uint64_t, Block> kept_{};  ///< by begin; from `hashed_bytes_` on
  bool is_hashing_ = false;
  bool wants_rest_ = false;  ///< less than a block, too
  bool ends_ = false;
  std::exception_ptr problem_{};
  Digester digester_;
  std::vector<Digester> snapshots_{};  ///< of earlier states, in order
  bool is_threaded_ = false;
  std::thread thread_{};
};

}  // namespace sabath::cache
