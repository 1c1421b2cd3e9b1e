#pragma once

#include <sabath/base/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace sabath::arrays {

/// Budget for the names and shapes of all arrays of a file. In some formats one long name belongs
/// to many arrays, so that a small file could ask for any amount of memory.
class NameBudget {
 public:
  explicit NameBudget(std::string place, std::uint64_t most = std::uint64_t{64} << 20U)
      : place_(std::move(place)), most_(most), left_(most) {}

  /// Throws Error{integrity} where the budget is exceeded.
  void charge(std::uint64_t bytes) {
    if (bytes > left_) {
      throw base::Error(base::ErrorKind::integrity,
                        place_ + ": cannot read: the names of its arrays take more than " +
                            std::to_string(most_ >> 20U) + " MiB");
    }
    left_ -= bytes;
  }

 private:
  std::string place_;
  std::uint64_t most_;
  std::uint64_t left_;
};

}  // namespace sabath::arrays
