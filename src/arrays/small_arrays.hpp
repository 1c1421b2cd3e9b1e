#pragma once

#include "reader/reader_messages.hpp"

#include <sabath/base/array_source.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::arrays {

/// Whether the array has so few values that it is sent together with others.
bool is_small(const base::ArrayInfo& array);

/// Arrays of a list from `first` on, `most` at most and while they are small. The first one's Error
/// is thrown, any other ends the message. Texts may be fewer than the array has.
PayloadWriter pack_small_arrays(base::ArraySource& source,
                                std::span<const base::ArrayInfo> list,
                                std::uint64_t first,
                                std::uint64_t most);

/// The arrays of such a message. They are asked for one after the other, and the next message has
/// more of them the more of these were of use.
class SmallArrays {
 public:
  /// Throws Error{integrity} where the message does not fit the list, and is empty then.
  void unpack(std::string payload, std::span<const base::ArrayInfo> list, std::uint64_t first);

  bool has(std::uint64_t index) const { return index >= first_ && index - first_ < values_.size(); }
  /// False where the array or its range is not here.
  bool read(std::uint64_t index, std::uint64_t first_byte, std::span<std::byte> out);
  bool read_texts(std::uint64_t index,
                  std::uint64_t first,
                  std::uint64_t count,
                  std::vector<std::string>& out);
  /// How many to ask for from `index` on.
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
