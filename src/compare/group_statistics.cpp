#include "group_statistics.hpp"

#include <sabath/compare/bootstrap.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/rank_tests.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::compare {
namespace {

using Values = std::span<const double>;

/// Resampling costs ten thousand times what all else does.
constexpr std::size_t most_resampled = 5000;
constexpr std::size_t fewest_resampled = 20;

void add_means(spec::GroupStatistics& all,
               const Moments& a,
               const Moments& b,
               std::optional<double> margin,
               double alpha) {
  all.difference = a.mean - b.mean;
  const auto welch = welch_test(a, b);
  if (!welch) {
    all.notes.emplace_back(
        "no test of means: each side wants two runs, not all of one value, and a spread that a "
        "double can hold");
    return;
  }
  all.welch_t = welch->t;
  all.welch_freedom = welch->freedom;
  all.welch_p = welch->p;
  all.hedges_g = hedges_g(a, b);
  const auto tost = equivalence_test(a, b, margin.value_or(2 * mean_sd(a, b)), alpha);
  if (!tost) return;
  all.tost_margin = tost->margin;
  all.tost_p = tost->p;
  all.tost_low = tost->interval.low;
  all.tost_high = tost->interval.high;
}

void add_ranks(spec::GroupStatistics& all, Values a, Values b, double alpha) {
  if (a.empty() || b.empty()) return;
  all.cliffs_delta = count_pairs(a, b).cliffs_delta();
  if (const auto test = mann_whitney(a, b)) {
    all.mann_whitney_u = test->statistic;
    all.mann_whitney_p = test->p;
    all.mann_whitney_exact = test->exact;
  } else if (const std::string why = mann_whitney_refusal(a.size(), b.size()); !why.empty()) {
    all.notes.push_back(why);
  }
  if (const auto test = kolmogorov_smirnov(a, b)) {
    all.kolmogorov_smirnov_d = test->statistic;
    all.kolmogorov_smirnov_p = test->p;
    all.kolmogorov_smirnov_exact = test->exact;
  }
  if (const auto shift = hodges_lehmann(a, b, alpha)) {
    all.hodges_lehmann = shift->estimate;
    if (shift->interval) {
      all.hodges_lehmann_low = shift->interval->low;
      all.hodges_lehmann_high = shift->interval->high;
    }
  }
}

void add_bootstrap(spec::GroupStatistics& all, Values a, Values b, double alpha) {
  if (std::min(a.size(), b.size()) < fewest_resampled) {
    all.notes.push_back(fmt::format("no BCa bootstrap: it wants {} runs a side", fewest_resampled));
    return;
  }
  if (a.size() + b.size() > most_resampled) {
    all.notes.push_back(fmt::format("no BCa bootstrap of more than {} runs", most_resampled));
    return;
  }
  Resampling how;
  how.seed = 1;
  how.alpha = alpha;
  const auto found = bca_interval(
      {{a.begin(), a.end()}, {b.begin(), b.end()}},
      [](const auto& groups) { return moments(groups[0]).mean - moments(groups[1]).mean; },
      how);
  if (!found) return;
  all.bootstrap_low = found->interval.low;
  all.bootstrap_high = found->interval.high;
  all.bootstrap_seed = how.seed;
  all.bootstrap_resamples = how.resamples;
}

}  // namespace

spec::GroupStatistics group_statistics(Values a,
                                       Values b,
                                       std::optional<double> margin,
                                       double alpha) {
  spec::GroupStatistics all;
  add_means(all, moments(a), moments(b), margin, alpha);
  add_ranks(all, a, b, alpha);
  add_bootstrap(all, a, b, alpha);
  return all;
}

}  // namespace sabath::compare
