#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sabath::compare {

/// Reading of MLPerf's reference convergence points. `code` is what rcp_checker.py does since July
/// 2024 (the standard deviation of all runs). `policy` is what the examples of the training
/// policies compute (that of the runs left after trimming). Both divide by n.
enum class RcpReading { code, policy };

struct RcpRules {
  std::uint64_t submission_runs = 10;  ///< N, fixed by the benchmark
  std::uint64_t trimmed = 1;           ///< dropped at each end for the mean (4 for unet3d)
  std::uint64_t may_fail = 1;          ///< runs that need not converge (4 for unet3d)
  RcpReading reading = RcpReading::code;
  double alpha = 0.05;
};

/// Epochs to converge of the reference at one batch size.
struct RcpRuns {
  std::uint64_t batch_size = 0;
  std::vector<double> epochs{};
};

/// Requirement for a submission at one batch size.
struct RcpPoint {
  std::uint64_t batch_size = 0;
  double mean = 0;  ///< olympic: without the `trimmed` lowest and highest
  double sd = 0;
  std::uint64_t n_reference = 0;
  std::uint64_t n_submission = 0;
  double t = 0;            ///< the quantile that was used
  double minimum = 0;      ///< the least mean that a submission may have
  double max_speedup = 0;  ///< mean / minimum
  bool interpolated = false;
};

/// minimum = mean - t(1 - alpha, n_ref + n_sub - 2) * sd * sqrt(1/n_ref + 1/n_sub), at least 0.
/// n_ref is the number of runs after trimming, n_sub = N - 2. The checker finds the same by
/// bisection. Throws Error{usage} where trimming leaves nothing, N < 3 or a value is not finite.
RcpPoint rcp_point(const RcpRuns& runs, const RcpRules& rules);

/// Prunes points as the checker does. Returns them in order of batch size, without those below the
/// one that converges fastest. One pass then drops points slower than the line between their
/// neighbours.
std::vector<RcpPoint> prune(std::vector<RcpPoint> points, const RcpRules& rules);

struct RcpVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  std::optional<RcpPoint> point{};
  double mean = 0;   ///< olympic, of the submission
  double scale = 1;  ///< by which its time is multiplied: above 1 where it converged faster
};

/// Checks a submission of N runs at a batch size; NaN or infinity means that a run did not
/// converge. Uses the point of that batch size, else one between two neighbours, else the one of
/// the smallest batch. Above the largest it is INCONCLUSIVE: a point must be supplied. One-sided:
/// finds only convergence that is too fast.
RcpVerdict check_rcp(const std::vector<RcpRuns>& references,
                     std::uint64_t batch_size,
                     std::span<const double> epochs,
                     const RcpRules& rules);

struct SeedVerdict {
  spec::Verdict verdict = spec::Verdict::pass;
  std::string reason{};
};

/// Checks that each run logs a seed, and that no two have the same one at the same place
/// (seed_checker.py). Seeds are whole numbers from -2^63 to 2^64 - 1. INCONCLUSIVE for other texts,
/// and without runs.
SeedVerdict check_seeds(const std::vector<std::vector<spec::SeedPlace>>& runs);

}  // namespace sabath::compare
