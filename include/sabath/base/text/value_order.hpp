#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Does `a` stand before `b` where values are listed? Numbers come first, by their value
/// (0.0003, 0.001, 8, 32), then text, then what is empty. Two spellings of one number are ordered
/// as text, so that this is a strict order.
bool value_before(std::string_view a, std::string_view b);

/// The same for several values at a time: the first that differs decides.
struct ValuesOrder {
  bool operator()(const std::vector<std::string>& a, const std::vector<std::string>& b) const;
};

}  // namespace sabath::base
