#pragma once

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::arrays {

/// What the reader process is asked for; ReaderClient and ReaderServer agree on the payloads.
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
  done = 1,       ///< what was asked for
  in_memory,      ///< values are in the shared memory, from an offset on
  in_file,        ///< the array's values lie in the file as they are, from an offset on
  error,          ///< kind, message and hint of a base::Error
  out_of_memory,  ///< the process needs more memory than it may have
};

/// What goes before each message in both directions.
struct MessageHead {
  std::uint32_t what = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  ///< of the payload
};

/// The shared memory has two parts, so that one can be filled while the other is taken.
constexpr std::size_t part_bytes = std::size_t{2} << 20U;
constexpr std::size_t shared_bytes = 2 * part_bytes;

/// Numbers and texts, one behind the other.
class PayloadWriter {
 public:
  void number(std::uint64_t value);
  void text(std::string_view value);
  /// A text that is filled afterwards; valid until the next call.
  std::span<std::byte> space(std::uint64_t bytes);
  /// Takes away what stands behind the first `bytes`.
  void cut(std::size_t bytes) { bytes_.resize(bytes); }
  void array(const base::ArrayInfo& info);
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_{};
};

/// Throws Error{integrity} where the payload is not what is read from it.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number();
  std::string text() { return std::string(view()); }
  std::string_view view();
  base::ArrayInfo array();
  /// How many items follow, each of at least 8 bytes.
  std::uint64_t count();
  bool is_empty() const noexcept { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace sabath::arrays
