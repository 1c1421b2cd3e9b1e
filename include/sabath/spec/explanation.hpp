#pragma once

#include <sabath/spec/comparison.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sabath::spec {

/// Something in which two runs differ and that a run can be made with: "parameter reduction".
struct Change {
  std::string name{};
  std::string a{};
  std::string b{};

  bool operator==(const Change&) const = default;
};

/// A with some of B's: what came out.
struct Hybrid {
  std::vector<std::string> changes{};  ///< names; none: A done again
  std::string run{};
  bool reused = false;                      ///< an earlier explanation made it
  Verdict verdict = Verdict::inconclusive;  ///< against A
  std::string reason{};

  bool operator==(const Hybrid&) const = default;
};

/// `sabath explain A B`
struct Explanation {
  std::string a{};
  std::string b{};
  Verdict verdict = Verdict::inconclusive;  ///< of B against A
  std::string verdict_reason{};
  std::vector<Change> changes{};
  std::vector<std::string> impossible{};  ///< what differs and cannot be made here, and why
  std::vector<Hybrid> hybrids{};          ///< in the order in which they were made
  /// The smallest change that flips the verdict: none of it can be left out. Empty: not found.
  std::vector<std::string> cause{};
  std::string reason{};

  bool operator==(const Explanation&) const = default;
};

nlohmann::ordered_json to_json(const Explanation& explanation);

}  // namespace sabath::spec
