#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/partial_file.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sabath::cache {

/// A block never crosses a multiple of this. It costs two thirds of parts of 16 KiB, which libcurl
/// gives. Larger blocks gain little, and need large pieces of page cache.
constexpr std::uint64_t write_block_bytes = 64U << 10U;

class BlockPool;

struct GiveBack {
  BlockPool* pool = nullptr;
  void operator()(std::byte* memory) const noexcept;
};

/// Memory for one block; returns to its pool.
using BlockMemory = std::unique_ptr<std::byte[], GiveBack>;

/// Bytes of a file that is being written.
struct Block {
  std::uint64_t begin = 0;  ///< in the file
  unsigned source = 0;
  base::ByteView bytes{};
  /// Memory of the bytes; null: they are valid during a call only.
  BlockMemory memory{};

  base::ByteRange range() const { return {begin, begin + bytes.size()}; }
};

/// Reused memory for blocks, so that the kernel need not clear it each time. Outlives all taken
/// memory. Thread safety: any thread.
class BlockPool {
 public:
  /// 32 MiB: the most that is idle. Beyond it, no block is kept only to save reading.
  static constexpr std::size_t most_blocks = 512;

  /// The pool of all partial files of the process.
  static BlockPool& shared();

  BlockPool() { free_.reserve(most_blocks); }

  BlockMemory take();
  /// Says whether more than `most_blocks` are taken.
  bool is_scarce() const;

 private:
  friend struct GiveBack;
  void give_back(std::unique_ptr<std::byte[]> memory) noexcept;

  mutable std::mutex mutex_{};
  std::size_t taken_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> free_{};
};

/// Joins the small writes of several streams to blocks. A stream is contiguous bytes of one source.
class WriteBlocks {
 public:
  /// Receives a block that has ended; may throw.
  using Put = std::function<void(Block&&)>;

  WriteBlocks(BlockPool& pool, Put put) : pool_(pool), put_(std::move(put)) {}

  void add(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source);
  /// Ends the block that ends there, if there is one.
  void end_at(std::uint64_t offset_bytes);
  void end_all();
  /// Drops blocks that have not ended.
  void clear() { open_.clear(); }

 private:
  Block continued(std::uint64_t offset_bytes, unsigned source);

  BlockPool& pool_;
  Put put_;
  std::map<std::uint64_t, Block> open_{};  ///< by end
};

}  // namespace sabath::cache
