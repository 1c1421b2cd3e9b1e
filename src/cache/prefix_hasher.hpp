#pragma once

#include "digester.hpp"

#include <sabath/base/bytes.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

namespace sabath::cache {

/// Digests of a file while it is written: its prefix without gaps is hashed as it grows. Small
/// files are hashed from the bytes that were just written; for larger ones a thread of its own
/// reads behind the writer, so that the digests cost no second pass and no waiting. Where no thread
/// can be had the hashing is done at the end.
///
/// Threads: one caller. `mutex_` guards all members but the digester and the snapshots; these
/// belong to the thread while `is_hashing_`, else to who holds the mutex.
class PrefixHasher {
 public:
  /// `fd` is read with pread and must outlive this; `path` is for messages.
  PrefixHasher(int fd, std::filesystem::path path, const std::vector<base::Digest>& wanted);
  ~PrefixHasher();
  PrefixHasher(const PrefixHasher&) = delete;
  PrefixHasher& operator=(const PrefixHasher&) = delete;

  bool computes(base::DigestAlgorithm algorithm) const { return digester_.computes(algorithm); }
  /// `bytes` stand at `offset_bytes` now, and the first `prefix_bytes` of the file are complete.
  void follow(std::uint64_t offset_bytes, base::ByteView bytes, std::uint64_t prefix_bytes);
  /// The bytes from `offset_bytes` on are about to change; nothing reads them any more.
  void rewind(std::uint64_t offset_bytes);
  /// Of the prefix that `follow` was told of last; waits for them. Throws Error{storage}.
  std::vector<base::Digest> digests();

 private:
  void start();
  void run();
  bool has_work() const;
  void hash_until(std::uint64_t end_bytes, std::vector<std::byte>& buffer);

  int fd_;
  std::filesystem::path path_;
  std::mutex mutex_{};
  std::condition_variable work_{};     ///< there is something to hash, or the end
  std::condition_variable resting_{};  ///< a block was hashed
  std::uint64_t prefix_bytes_ = 0;
  std::uint64_t hashed_bytes_ = 0;
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
