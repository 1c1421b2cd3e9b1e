#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sabath::arrays {

/// Bytes in which arrays lie: a file, a member of an archive, memory. One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset`. Throws Error{integrity} where there is no such range.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) = 0;
  /// Does a read cost about the same wherever it begins?
  virtual bool is_seekable() const { return true; }

  /// At most `count` bytes from `offset`, fewer at the end.
  std::string text(std::uint64_t offset, std::uint64_t count);
};

/// "sha256:..." of all of them.
std::string digest_text(ByteSource& bytes);

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sabath::arrays
