#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/staged_file.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sabath::cache {

/// A block never crosses a multiple of this. A file system takes so many bytes at a time for two
/// thirds of what they cost in parts of 16 KiB, which is what libcurl gives; more at a time gain
/// little and want their page cache in large pieces, for which a virtual machine may have to wait.
constexpr std::uint64_t write_block_bytes = 64U << 10U;

class BlockPool;

struct GiveBack {
  BlockPool* pool = nullptr;
  void operator()(std::byte* memory) const noexcept;
};

/// Memory for one block; goes back to its pool.
using BlockMemory = std::unique_ptr<std::byte[], GiveBack>;

/// Some bytes of a file that is being written.
struct Block {
  std::uint64_t begin = 0;  ///< in the file
  unsigned source = 0;
  base::ByteView bytes{};
  /// Where they lie; nothing: they are lent for the time of a call.
  BlockMemory memory{};

  base::ByteRange range() const { return {begin, begin + bytes.size()}; }
};

/// Memory for blocks that is used again and again: the kernel need not clear it each time. It must
/// outlive what was taken. Threads: any.
class BlockPool {
 public:
  /// 32 MiB: no more than that lies idle, and who keeps blocks only to save reading keeps none
  /// beyond it.
  static constexpr std::size_t most_blocks = 512;

  /// That of all staged files of the process.
  static BlockPool& shared();

  BlockPool() { free_.reserve(most_blocks); }

  BlockMemory take();
  /// Are more than `most_blocks` taken?
  bool is_scarce() const;

 private:
  friend struct GiveBack;
  void give_back(std::unique_ptr<std::byte[]> memory) noexcept;

  mutable std::mutex mutex_{};
  std::size_t taken_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> free_{};
};

/// Puts the small writes of several streams together to blocks. A stream is what follows on each
/// other and is of one source.
class WriteBlocks {
 public:
  /// Takes a block that has ended; what it throws comes through.
  using Put = std::function<void(Block&&)>;

  WriteBlocks(BlockPool& pool, Put put) : pool_(pool), put_(std::move(put)) {}

  void add(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source);
  /// Ends the block that ends there, if there is one.
  void end_at(std::uint64_t offset_bytes);
  void end_all();
  /// Drops what was not put.
  void clear();

 private:
  Block continued(std::uint64_t offset_bytes, unsigned source);

  BlockPool& pool_;
  Put put_;
  std::map<std::uint64_t, Block> open_{};  ///< by end
};

}  // namespace sabath::cache
