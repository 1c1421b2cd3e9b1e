#pragma once

#include "budget.hpp"

#include <sabath/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace sabath::live {

/// The marks that nodes leave in the folders of batches as runs begin.
class BatchMarks {
 public:
  /// Looks at these batches from now on.
  void follow(const std::set<std::string>& folders);
  /// Looks at those that are due, as the budget allows.
  void look(Budget& budget, const base::Clock& clock);
  bool has_begun(const std::string& folder, const std::string& run_id) const;

 private:
  struct Seen {
    std::int64_t changed = -1;
    std::optional<base::SteadyTime> at{};
    std::set<std::string> started{};  ///< runs
  };
  static constexpr std::chrono::seconds between_looks{2};
  static constexpr std::chrono::seconds coarse{2};  ///< resolution of file times

  std::map<std::string, Seen> batches_{};
};

}  // namespace sabath::live
