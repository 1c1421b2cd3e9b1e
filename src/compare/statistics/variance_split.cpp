#include "additive_model.hpp"

#include <sabath/compare/sample.hpp>
#include <sabath/compare/variance_split.hpp>

#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sabath::compare {
namespace {

struct Cells {
  std::vector<Cell> cells{};
  std::vector<std::vector<std::uint32_t>> levels{};  ///< [factor][cell], numbered without gaps
  std::vector<std::uint64_t> counts{};               ///< of levels that have a value
  double within = 0;

  std::vector<CellFactor> factors(const std::vector<std::size_t>& chosen) const {
    std::vector<CellFactor> result;
    for (const std::size_t f : chosen)
      result.push_back({static_cast<std::uint32_t>(counts[f]), levels[f].data()});
    return result;
  }
};

/// Renumbers levels without gaps. Returns their number.
std::uint64_t close_gaps(std::vector<std::uint32_t>& levels, std::uint32_t count) {
  constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> numbers(count, unseen);
  std::uint32_t next = 0;
  for (std::uint32_t& level : levels) {
    if (numbers[level] == unseen) numbers[level] = next++;
    level = numbers[level];
  }
  return next;
}

Cells cells_of(std::span<const double> values, const std::vector<Factor>& factors) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (const Factor& factor : factors) {
      if (factor.levels[a] != factor.levels[b]) return factor.levels[a] < factor.levels[b] ? -1 : 1;
    }
    return 0;
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  Cells result;
  result.levels.resize(factors.size());
  std::vector<double> group;
  for (std::size_t from = 0; from < order.size();) {
    group.clear();
    std::size_t to = from;
    for (; to < order.size() && compare(order[from], order[to]) == 0; ++to)
      group.push_back(values[order[to]]);
    const double mean = moments(group).mean;
    result.cells.push_back({static_cast<double>(group.size()), mean});
    for (const double value : group)
      result.within += (value - mean) * (value - mean);
    for (std::size_t f = 0; f < factors.size(); ++f)
      result.levels[f].push_back(factors[f].levels[order[from]]);
    from = to;
  }
  for (std::size_t f = 0; f < factors.size(); ++f)
    result.counts.push_back(close_gaps(result.levels[f], factors[f].count));
  return result;
}

std::uint64_t missing_cells(const std::vector<std::uint64_t>& levels, std::uint64_t present) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t all = 1;
  for (const std::uint64_t count : levels) {
    if (all > most / std::max<std::uint64_t>(count, 1)) return most;
    all *= count;
  }
  return all - present;
}

void set_components(const Cells& cells, spec::VarianceSplit& split) {
  if (split.within_freedom == 0) return;
  const double mean_within = split.within / static_cast<double>(split.within_freedom);
  split.variance_within = mean_within;
  if (split.between_freedom == 0) return;
  const double mean_between = split.between / static_cast<double>(split.between_freedom);
  const auto n = static_cast<double>(split.n);
  double squares = 0;
  for (const Cell& cell : cells.cells)
    squares += cell.weight * cell.weight;
  const double size = (n - squares / n) / static_cast<double>(split.between_freedom);
  split.variance_between = (mean_between - mean_within) / size;
  const double all = mean_between + (size - 1) * mean_within;
  if (all > 0) split.icc = (mean_between - mean_within) / all;
}

void set_shares(const spec::VarianceSplit& split, spec::FactorShare& share) {
  if (!(split.total > 0)) return;
  share.eta_squared = share.sequential / split.total;
  if (share.partial + split.residual > 0)
    share.partial_eta_squared = share.partial / (share.partial + split.residual);
  if (split.residual_freedom == 0) return;
  const double error = split.residual / static_cast<double>(split.residual_freedom);
  share.omega_squared = (share.sequential - static_cast<double>(share.sequential_freedom) * error) /
                        (split.total + error);
  if (share.partial_freedom == 0) return;
  const auto freedom = static_cast<double>(share.partial_freedom);
  if (const double f = share.partial / freedom / error; error > 0 && std::isfinite(f)) {
    const boost::math::fisher_f distribution(freedom, static_cast<double>(split.residual_freedom));
    share.f = f;
    share.p = boost::math::cdf(boost::math::complement(distribution, f));
  } else if (share.partial > 0) {
    share.p = 0;
  }
}

void split_by_factors(const Cells& cells,
                      const std::vector<Factor>& factors,
                      spec::VarianceSplit& split) {
  const auto fit = [&](const std::vector<std::size_t>& chosen) {
    return fit_additive(cells.cells, cells.factors(chosen));
  };
  std::vector<std::size_t> all(factors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const AdditiveFit full = fit(all);
  split.residual = full.residual + cells.within;
  split.residual_freedom = split.n - full.rank;
  AdditiveFit before = fit({});
  for (std::size_t f = 0; f < factors.size(); ++f) {
    spec::FactorShare share;
    share.name = factors[f].name;
    share.levels = cells.counts[f];
    const AdditiveFit with = fit({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(f) + 1});
    share.sequential = std::max(0.0, before.residual - with.residual);
    share.sequential_freedom = with.rank - before.rank;
    before = with;
    std::vector<std::size_t> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
    const AdditiveFit without = fit(others);
    share.partial = std::max(0.0, without.residual - full.residual);
    share.partial_freedom = full.rank - without.rank;
    split.factors.push_back(std::move(share));
  }
  for (spec::FactorShare& share : split.factors)
    set_shares(split, share);
}

/// The values in units of the largest: what is divided by sums of their squares is the same, and no
/// square is none, or infinite.
std::vector<double> scaled(std::span<const double> values, double unit) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values)
    result.push_back(value / unit);
  return result;
}

/// Scales sums of squares back to the values.
void scale_back(spec::VarianceSplit& split, double unit) {
  const auto scale = [&](double& sum) { sum = sum * unit * unit; };
  for (double* sum : {&split.total, &split.between, &split.within, &split.residual})
    scale(*sum);
  if (split.variance_between) scale(*split.variance_between);
  if (split.variance_within) scale(*split.variance_within);
  for (spec::FactorShare& share : split.factors) {
    scale(share.sequential);
    scale(share.partial);
  }
}

spec::VarianceSplit split_scaled(std::span<const double> values,
                                 const std::vector<Factor>& factors) {
  spec::VarianceSplit split;
  split.n = values.size();
  if (values.empty()) return split;
  const Cells cells = cells_of(values, factors);
  const std::vector<std::uint64_t>& levels = cells.counts;
  split.groups = cells.cells.size();
  split.missing_cells = missing_cells(levels, split.groups);
  split.between = fit_additive(cells.cells, {}).residual;
  split.within = cells.within;
  split.total = split.between + split.within;
  split.between_freedom = split.groups - 1;
  split.within_freedom = split.n - split.groups;
  set_components(cells, split);
  const std::uint64_t largest = levels.empty() ? 0 : *std::ranges::max_element(levels);
  const std::uint64_t others =
      std::accumulate(levels.begin(), levels.end(), std::uint64_t{0}) - largest;
  if (others > most_eliminated_levels) {
    split.not_split = "all factors but the largest have " + std::to_string(others) +
                      " levels together, at most " + std::to_string(most_eliminated_levels) +
                      " can be distinguished";
    return split;
  }
  split_by_factors(cells, factors, split);
  return split;
}

}  // namespace

spec::VarianceSplit split_variance(std::span<const double> values,
                                   const std::vector<Factor>& factors) {
  double largest = 0;
  for (const double value : values)
    largest = std::max(largest, std::abs(value));
  const double unit = unit_of(largest);
  spec::VarianceSplit split = split_scaled(scaled(values, unit), factors);
  scale_back(split, unit);
  return split;
}

}  // namespace sabath::compare
