#pragma once

#include "reader/reader_messages.hpp"

#include <sabath/base/array_source.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::arrays {

/// Whether the array is small enough to be sent together with others.
bool is_small(const base::ArrayInfo& array);

/// Packs arrays of a list from `first` on: at most `most`, while they are small. An Error of the
/// first one is thrown; any other Error ends the message. Texts may be fewer than the array has.
PayloadWriter pack_small_arrays(base::ArraySource& source,
                                std::span<const base::ArrayInfo> list,
                                std::uint64_t first,
                                std::uint64_t most);

/// Arrays of such a message. They are requested in order. The more of them were used, the more the
/// next message has.
class SmallArrays {
 public:
  /// Throws Error{integrity} where the message does not fit the list; this is then empty.
  void unpack(std::string payload, std::span<const base::ArrayInfo> list, std::uint64_t first);

  bool has(std::uint64_t index) const { return index >= first_ && index - first_ < values_.size(); }
  /// Returns false where the array or its range is missing.
  bool read(std::uint64_t index, std::uint64_t first_byte, std::span<std::byte> out);
  bool read_texts(std::uint64_t index,
                  std::uint64_t first,
                  std::uint64_t count,
                  std::vector<std::string>& out);
  /// Number of arrays to request from `index` on.
  std::uint64_t next_count(std::uint64_t index);

 private:
  struct Values {
    std::string_view bytes{};  ///< of numbers; in `payload_`
    std::vector<std::string> texts{};
    bool is_used = false;
  };

  Values* find(std::uint64_t index);

  std::string payload_{};
  std::uint64_t first_ = 0;
  std::vector<Values> values_{};
  std::uint64_t count_ = 0;  ///< that was asked for
};

}  // namespace sabath::arrays
