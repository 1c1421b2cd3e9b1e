#pragma once

#include "tolerance.hpp"

#include <sabath/compare/rules.hpp>

#include <string>

namespace sabath::compare {

/// What both recipes say of an output.
struct OutputRules {
  spec::OutputRule rule{};    ///< what it is opened as: as either declares it
  SaidTolerance tolerance{};  ///< A's, and B's where that is another
  std::string conflict{};     ///< what they say that cannot both hold; empty: nothing
};

/// Of "stage/path".
OutputRules rules_for(const Rules& rules, const std::string& output);

}  // namespace sabath::compare
