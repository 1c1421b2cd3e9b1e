#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sabath::compare {

/// How likely TOST, with the degrees of freedom of Welch and Satterthwaite, finds two groups of
/// `runs` each equivalent for a margin of so many standard deviations, where both are of normal
/// values with one mean and one standard deviation: the power at zero true difference. 0 for fewer
/// than two runs.
double equivalence_power(int runs, double margin_in_sigma, double alpha = 0.05);

/// Two groups of normal values, as they are taken to be.
struct TruePair {
  double difference = 0;  ///< of the means
  double margin = 0;
  double sd_a = 0;
  double sd_b = 0;
  /// How many tests Welch's is one of: its p is held against alpha / tests (Holm never asks more).
  std::size_t tests = 1;
};

/// How likely so many runs a side come to a verdict other than INCONCLUSIVE: TOST passes, or Welch
/// tells the means apart. 0 for fewer than two runs; 1 without spread.
double decision_power(std::uint64_t runs, const TruePair& pair, double alpha = 0.05);

/// The fewest runs a side, up to `most`, for which that is at least `wanted`. Nothing where they
/// would not do either: no margin and no difference, or spread without end.
std::optional<std::uint64_t> runs_to_decide(const TruePair& pair,
                                            double alpha = 0.05,
                                            double wanted = 0.8,
                                            std::uint64_t most = 100'000);

}  // namespace sabath::compare
