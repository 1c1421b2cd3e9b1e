#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sabath::arrays {

/// A part of a source.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

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

/// "sha256:..." of all of them, of those from an offset on, or of a part.
std::string digest_text(ByteSource& bytes, std::uint64_t from = 0);
std::string digest_text(ByteSource& bytes, ByteRange part);

/// A text that is longer is told by its digest, and after so many bytes no more texts are read in
/// one go: whoever compares two files holds those of both.
constexpr std::uint64_t longest_text = 64U << 20U;
constexpr std::uint64_t texts_at_once_bytes = 1U << 20U;

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sabath::arrays
