#include "write_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sabath::cache {
namespace {

/// More than the connections of an engine; 4 MiB.
constexpr std::size_t most_open_blocks = 64;

}  // namespace

BlockPool& BlockPool::shared() {
  static BlockPool pool;
  return pool;
}

BlockMemory BlockPool::take() {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<std::byte[]> memory;
  if (free_.empty()) {
    memory = std::make_unique_for_overwrite<std::byte[]>(write_block_bytes);
  } else {
    memory = std::move(free_.back());
    free_.pop_back();
  }
  ++taken_;
  return BlockMemory(memory.release(), {this});
}

void BlockPool::give_back(std::unique_ptr<std::byte[]> memory) noexcept {
  const std::lock_guard lock(mutex_);
  --taken_;
  if (taken_ + free_.size() < most_blocks) free_.push_back(std::move(memory));
}

bool BlockPool::is_scarce() const {
  const std::lock_guard lock(mutex_);
  return taken_ > most_blocks;
}

void GiveBack::operator()(std::byte* memory) const noexcept {
  pool->give_back(std::unique_ptr<std::byte[]>(memory));
}

Block WriteBlocks::continued(std::uint64_t offset_bytes, unsigned source) {
  auto node = open_.extract(offset_bytes);
  if (!node.empty()) {
    if (node.mapped().source == source) return std::move(node.mapped());
    put_(std::move(node.mapped()));
  }
  return {offset_bytes, source, {}, pool_.take()};
}

void WriteBlocks::add(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) {
  while (!bytes.empty()) {
    const std::uint64_t limit = (offset_bytes / write_block_bytes + 1) * write_block_bytes;
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit - offset_bytes));
    Block block = continued(offset_bytes, source);
    std::memcpy(block.memory.get() + block.bytes.size(), bytes.data(), size);
    block.bytes = {block.memory.get(), block.bytes.size() + size};
    bytes = bytes.subspan(size);
    offset_bytes += size;
    if (offset_bytes == limit) {
      put_(std::move(block));
    } else {
      open_.insert_or_assign(offset_bytes, std::move(block));
    }
  }
  while (open_.size() > most_open_blocks)
    end_at(open_.begin()->first);
}

void WriteBlocks::end_at(std::uint64_t offset_bytes) {
  auto node = open_.extract(offset_bytes);
  if (!node.empty()) put_(std::move(node.mapped()));
}

void WriteBlocks::end_all() {
  while (!open_.empty())
    end_at(open_.begin()->first);
}

}  // namespace sabath::cache
