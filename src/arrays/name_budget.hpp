#pragma once

#include <sabath/base/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace sabath::arrays {

/// What the names and shapes of all arrays of a file may take. Formats in which a long name stands
/// once and belongs to many arrays let a small file ask for any amount of memory.
class NameBudget {
 public:
  explicit NameBudget(std::string place) : place_(std::move(place)) {}

  /// Throws Error{integrity} where it is spent.
  void charge(std::uint64_t bytes) {
    if (bytes > left_) {
      throw base::Error(base::ErrorKind::integrity,
                        place_ + ": cannot read: the names of its arrays take more than 64 MiB");
    }
    left_ -= bytes;
  }

 private:
  std::string place_;
  std::uint64_t left_ = 64U << 20U;
};

}  // namespace sabath::arrays
