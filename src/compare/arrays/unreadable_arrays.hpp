#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sabath::compare {

/// Of arrays without a value, for `add`. Not for attributes: NetCDF's _FillValue is NaN by custom.
constexpr const char* only_nan = "is NaN in every value";

/// What was found out about arrays of an output that cannot be judged, few of them by name.
class UnreadableArrays {
 public:
  void add(const std::string& name, const std::string& why) {
    if (++count_ <= shown) told_.push_back(fmt::format("{} {}", name, why));
  }
  std::vector<std::string> take(const std::string& output) {
    if (count_ > shown) {
      told_.push_back(fmt::format("{} more arrays{} cannot be judged",
                                  count_ - shown,
                                  output.empty() ? "" : " of " + output));
    }
    return std::move(told_);
  }

 private:
  static constexpr std::size_t shown = 3;
  std::size_t count_ = 0;
  std::vector<std::string> told_{};
};

}  // namespace sabath::compare
