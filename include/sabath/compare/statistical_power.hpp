#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sabath::compare {

/// Power of TOST at zero true difference: the probability that it finds two groups of `runs` each
/// equivalent. Both have normal values with one mean and one standard deviation. Uses the degrees
/// of freedom of Welch and Satterthwaite. 0 for fewer than two runs.
double equivalence_power(int runs, double margin_in_sigma, double alpha = 0.05);

/// Two groups of normal values, as assumed.
struct TruePair {
  double difference = 0;  ///< of the means
  double margin = 0;
  double sd_a = 0;
  double sd_b = 0;
  /// Number of tests that Welch's is one of. Its p is compared with alpha / tests (Holm never
  /// demands more).
  std::size_t tests = 1;
};

/// Probability that so many runs a side give a verdict other than INCONCLUSIVE: TOST passes, or
/// Welch finds a difference. 0 for fewer than two runs; 1 without spread.
double decision_power(std::uint64_t runs, const TruePair& pair, double alpha = 0.05);

/// Fewest runs a side, up to `most`, for which decision_power is at least `wanted`. Returns nothing
/// where no number is enough: no margin and no difference, or an infinite spread.
std::optional<std::uint64_t> runs_to_decide(const TruePair& pair,
                                            double alpha = 0.05,
                                            double wanted = 0.8,
                                            std::uint64_t most = 100'000);

}  // namespace sabath::compare
