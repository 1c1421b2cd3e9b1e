#pragma once

#include <sabath/spec/comparison.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// Something in which two runs differ and that a run can be made with: "parameter reduction".
struct Change {
  std::string name{};
  std::string a{};
  std::string b{};
};

/// Names of changes.
using ChangeNames = std::vector<std::string>;

/// A with some of B's: what came out.
struct Hybrid {
  ChangeNames changes{};  ///< none: A done again
  std::string run{};
  bool reused = false;                      ///< an earlier explanation made it
  Verdict verdict = Verdict::inconclusive;  ///< against A
  std::string reason{};
  std::optional<Verdict> against_b{};  ///< absent: the run has no result
};

/// Changes with which A does not agree with A.
struct SufficientChanges {
  ChangeNames changes{};
  bool minimal = false;    ///< each part of them was tried and agrees with A
  bool confirmed = false;  ///< one more run came out as before
};

/// Sets of changes that were not tried and could be sufficient.
struct UntriedChanges {
  std::uint64_t sets = 0;               ///< 2^53: at least so many
  std::vector<ChangeNames> smallest{};  ///< 100 of them at most
  std::uint64_t runs = 0;               ///< to try all sets, and to confirm what was found
  std::optional<double> seconds{};      ///< of these runs, as long as those that were made
  std::uint64_t most_runs = 0;          ///< the same, if each of these sets differs
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
  /// The smallest sets of changes that were seen to be sufficient; none contains another.
  std::vector<SufficientChanges> sufficient{};
  bool complete = false;  ///< `sufficient` has all minimal sets
  std::string assumed{};  ///< what `complete` rests on: "monotone", or nothing
  /// In every minimal set, if `complete`. Absent: a set that failed may change it.
  std::optional<ChangeNames> necessary = ChangeNames();
  std::optional<ChangeNames> maybe_necessary{};  ///< else: in every minimal set that is known
  std::vector<ChangeNames> masking{};            ///< agree with A, although a part of them does not
  std::vector<ChangeNames> failed{};      ///< have no result, and may contain a sufficient part
  std::vector<ChangeNames> unresolved{};  ///< have no verdict
  UntriedChanges untried{};
  /// The only minimal set, if `complete` and there is one alone.
  ChangeNames cause{};
  std::string reason{};
};

nlohmann::ordered_json to_json(const Explanation& explanation);

}  // namespace sabath::spec
