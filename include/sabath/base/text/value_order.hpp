#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// The number that a text writes, with all digits of whole numbers; nothing where it is none.
std::optional<ExactNumber> number_of(std::string_view text);

/// Whether `a` is listed before `b`. Numbers come first, by value (0.0003, 0.001, 8, 32), then
/// text, then empty values. Two spellings of one number are ordered as text: the order is strict.
bool value_before(std::string_view a, std::string_view b);

/// The same for lists of values: the first that differs decides.
struct ValuesOrder {
  bool operator()(const std::vector<std::string>& a, const std::vector<std::string>& b) const;
};

}  // namespace sabath::base
