#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Bytes that hold arrays: a file, a member of an archive, memory. Not for several threads at a
/// time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset`. Throws Error{integrity} for a range outside the source.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) = 0;
  /// Whether a read costs about the same at any offset.
  virtual bool is_seekable() const { return true; }

  /// Returns `count` bytes from `offset`, fewer at the end.
  std::string text(std::uint64_t offset, std::uint64_t count);
};

/// "sha256:..." of all bytes, of those from an offset on, or of a part.
std::string digest_text(ByteSource& bytes, std::uint64_t from = 0);
std::string digest_text(ByteSource& bytes, ByteRange part);

/// Two lower-case digits for each byte.
std::string hexadecimal(std::span<const std::byte> bytes);

/// Longer texts are replaced by their digest. After so many bytes no more texts are read in one go:
/// a comparison holds those of two files.
constexpr std::uint64_t longest_text = 64U << 20U;
constexpr std::uint64_t texts_at_once_bytes = 1U << 20U;

/// `size` times all extents; nothing where that does not fit 64 bits.
std::optional<std::uint64_t> product_of(std::uint64_t size, std::span<const std::uint64_t> extents);

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sabath::arrays
