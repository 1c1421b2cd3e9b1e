#pragma once

#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace sabath::compare {

/// The order in which two runs' stages ran; unknown names come last.
class StageOrder {
 public:
  StageOrder(const spec::RunRecord& a, const spec::RunRecord& b) {
    for (const auto* record : {&a, &b}) {
      for (std::size_t i = 0; i < record->stages.size(); ++i) {
        const auto [known, is_new] = places_.emplace(record->stages[i].name, i);
        if (!is_new) known->second = std::min(known->second, i);
      }
    }
  }

  std::size_t place(const std::string& stage) const {
    const auto found = places_.find(stage);
    return found == places_.end() ? std::numeric_limits<std::size_t>::max() : found->second;
  }

 private:
  std::map<std::string, std::size_t> places_{};
};

}  // namespace sabath::compare
