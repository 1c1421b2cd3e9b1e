#pragma once

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sabath::arrays {

/// Requests to the reader process. ReaderConnection and ReaderServer agree on the payloads.
enum class Request : std::uint32_t {
  open = 1,
  close,
  outside,
  read,
  read_texts,
  unwritten,
  read_small  ///< several arrays of few values (small_arrays.hpp)
};

enum class Answer : std::uint32_t {
  done = 1,       ///< the requested data
  in_memory,      ///< offset in shared memory
  in_file,        ///< offset of plain values in the file
  error,          ///< kind, message and hint of a base::Error
  out_of_memory,  ///< beyond the limit of the process
};

/// Throws Error{integrity} for a message that the protocol does not have.
[[noreturn]] void throw_malformed();

/// Head of each message in both directions.
struct MessageHead {
  std::uint32_t what = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  ///< of the payload
};

/// The shared memory has two parts: one is filled while the other is read.
constexpr std::size_t part_bytes = std::size_t{2} << 20U;
constexpr std::size_t shared_bytes = 2 * part_bytes;

/// Numbers and texts, one behind the other.
class PayloadWriter {
 public:
  void number(std::uint64_t value);
  void text(std::string_view value);
  /// Space for a text that is filled later; valid until the next call.
  std::span<std::byte> space(std::uint64_t bytes);
  /// Removes what follows the first `bytes`.
  void cut(std::size_t bytes) { bytes_.resize(bytes); }
  void array(const base::ArrayInfo& info);
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_{};
};

/// Reads a payload. Throws Error{integrity} where it has other items than are read.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number();
  std::string text() { return std::string(view()); }
  std::string_view view();
  base::ArrayInfo array();
  /// Number of items that follow, each of at least 8 bytes.
  std::uint64_t count();
  bool is_empty() const noexcept { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace sabath::arrays
