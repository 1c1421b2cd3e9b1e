#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/enum_words.hpp>

#include <string>
#include <vector>

namespace sabath::exchange {

enum class FairState { holds, missing, not_applicable };
constexpr auto words_of(FairState) {
  return std::to_array<std::string_view>({"holds", "missing", "does not apply"});
}

/// One question of FAIR about an asset. No score is given: tools that give one disagree.
struct FairAnswer {
  std::string metric{};  ///< of F-UJI 0.8, such as "F1-02"
  std::string question{};
  FairState state = FairState::holds;
  std::string remedy{};  ///< what to add; of a question that is missing
};

/// Answers the questions that need no network.
std::vector<FairAnswer> fair_answers(const spec::Asset& asset);

}  // namespace sabath::exchange
