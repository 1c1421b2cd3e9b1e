#pragma once

#include <string>

namespace sabath::base {

/// An array of a file whose values lie in another one.
struct OutsideValues {
  std::string array{};
  std::string file{};  ///< as it is named there, relative to the file's folder; may be a pattern

  bool operator==(const OutsideValues&) const = default;
};

}  // namespace sabath::base
