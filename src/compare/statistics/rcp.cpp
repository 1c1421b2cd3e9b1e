#include <sabath/base/error.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/rcp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sabath::compare {
namespace {

using base::Error;
using base::ErrorKind;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Divided by n: numpy.std with ddof = 0, which the checker uses.
double population_sd(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

std::span<const double> trimmed(const std::vector<double>& sorted, std::uint64_t at_each_end) {
  if (sorted.size() <= 2 * at_each_end) {
    throw Error(ErrorKind::usage,
                fmt::format("an olympic mean that drops {} at each end needs at least {} runs, "
                            "there are {}",
                            at_each_end,
                            2 * at_each_end + 1,
                            sorted.size()));
  }
  return std::span(sorted).subspan(at_each_end, sorted.size() - 2 * at_each_end);
}

void set_minimum(RcpPoint& point, const RcpRules& rules) {
  if (rules.submission_runs < 3)
    throw Error(ErrorKind::usage, "a submission of fewer than 3 runs has no olympic mean");
  point.n_submission = rules.submission_runs - 2;
  const double freedom = static_cast<double>(point.n_reference + point.n_submission) - 2;
  point.minimum = point.mean;
  if (point.sd > 0 && freedom > 0) {
    point.t = t_exceeded(rules.alpha, freedom);
    const double error = point.sd * std::sqrt(1 / static_cast<double>(point.n_reference) +
                                              1 / static_cast<double>(point.n_submission));
    point.minimum = std::max(0.0, point.mean - point.t * error);
  }
  point.max_speedup = point.mean / point.minimum;
}

/// numpy.interp of mean and deviation; the checker takes 2N for the number of references then.
RcpPoint between(const RcpPoint& low,
                 const RcpPoint& high,
                 std::uint64_t batch_size,
                 const RcpRules& rules) {
  const double share = static_cast<double>(batch_size - low.batch_size) /
                       static_cast<double>(high.batch_size - low.batch_size);
  RcpPoint point;
  point.batch_size = batch_size;
  point.mean = low.mean + share * (high.mean - low.mean);
  point.sd = low.sd + share * (high.sd - low.sd);
  point.n_reference = 2 * rules.submission_runs;
  point.interpolated = true;
  set_minimum(point, rules);
  return point;
}

/// Returns nothing above the largest batch size.
std::optional<RcpPoint> point_for(const std::vector<RcpPoint>& points,
                                  std::uint64_t batch_size,
                                  const RcpRules& rules) {
  const auto above = std::ranges::lower_bound(points, batch_size, {}, &RcpPoint::batch_size);
  if (above == points.end()) return std::nullopt;
  if (above == points.begin() || above->batch_size == batch_size) return *above;
  return between(*(above - 1), *above, batch_size, rules);
}

std::optional<std::string> whole_number(const std::string& text) {
  if (const auto number = base::number_in<std::uint64_t>(text)) return std::to_string(*number);
  if (const auto number = base::number_in<std::int64_t>(text)) return std::to_string(*number);
  return std::nullopt;
}

}  // namespace

RcpPoint rcp_point(const RcpRuns& runs, const RcpRules& rules) {
  std::vector<double> sorted = runs.epochs;
  if (!all_finite(sorted))
    throw Error(ErrorKind::usage, "a run that did not converge cannot be a reference");
  std::ranges::sort(sorted);
  const std::span<const double> kept = trimmed(sorted, rules.trimmed);
  RcpPoint point;
  point.batch_size = runs.batch_size;
  point.mean = mean_of(kept);
  point.sd =
      population_sd(rules.reading == RcpReading::code ? std::span<const double>(sorted) : kept);
  point.n_reference = kept.size();
  set_minimum(point, rules);
  return point;
}

std::vector<RcpPoint> prune(std::vector<RcpPoint> points, const RcpRules& rules) {
  if (points.empty()) return points;
  std::ranges::sort(points, {}, &RcpPoint::batch_size);
  const auto fastest = std::ranges::min_element(points, {}, &RcpPoint::minimum);
  points.erase(points.begin(), fastest);
  for (std::size_t i = 1; i + 1 < points.size();) {
    const RcpPoint line = between(points[i - 1], points[i + 1], points[i].batch_size, rules);
    if (points[i].minimum > line.minimum) {
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return points;
}

RcpVerdict check_rcp(const std::vector<RcpRuns>& references,
                     std::uint64_t batch_size,
                     std::span<const double> epochs,
                     const RcpRules& rules) {
  if (epochs.size() != rules.submission_runs) {
    return {
        spec::Verdict::inconclusive,
        fmt::format("a submission has {} runs, here are {}", rules.submission_runs, epochs.size())};
  }
  std::vector<RcpPoint> points;
  for (const RcpRuns& runs : references)
    points.push_back(rcp_point(runs, rules));
  const auto point = point_for(prune(std::move(points), rules), batch_size, rules);
  if (!point) {
    return {spec::Verdict::inconclusive,
            fmt::format("no reference point for a batch of {} or more: one must be supplied",
                        batch_size)};
  }
  RcpVerdict result;
  result.point = point;
  std::vector<double> sorted(epochs.begin(), epochs.end());
  std::uint64_t failed = 0;
  for (double& epoch : sorted) {
    if (std::isfinite(epoch)) continue;
    epoch = 1e9;  // as the checker counts it
    ++failed;
  }
  std::ranges::sort(sorted);
  result.mean = mean_of(trimmed(sorted, rules.trimmed));
  if (failed > rules.may_fail) {
    result.verdict = spec::Verdict::fail;
    result.reason = fmt::format("{} runs did not converge, {} may be so", failed, rules.may_fail);
    return result;
  }
  const bool slow_enough = result.mean >= point->minimum;
  result.verdict = slow_enough ? spec::Verdict::pass : spec::Verdict::fail;
  if (slow_enough && result.mean < point->mean) result.scale = point->mean / result.mean;
  result.reason = fmt::format("converged after {:.6g} epochs, at least {:.6g} were to be expected",
                              result.mean,
                              point->minimum);
  return result;
}

SeedVerdict check_seeds(const std::vector<std::vector<spec::SeedPlace>>& runs) {
  if (runs.empty()) return {spec::Verdict::inconclusive, "no run is given"};
  std::map<spec::SeedPlace, std::size_t> first_run;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].empty())
      return {spec::Verdict::fail, fmt::format("run {} logged no seed", run + 1)};
    for (spec::SeedPlace place : runs[run]) {
      const auto seed = whole_number(place.seed);
      if (!seed) {
        return {
            spec::Verdict::inconclusive,
            fmt::format("run {} logged the seed '{}' at {}:{}, which is not a whole number of 64 "
                        "bits",
                        run + 1,
                        place.seed,
                        place.file,
                        place.line)};
      }
      place.seed = *seed;
      const auto [known, is_new] = first_run.emplace(place, run);
      if (is_new || known->second == run) continue;
      return {spec::Verdict::fail,
              fmt::format("runs {} and {} logged the seed {} at {}:{}",
                          known->second + 1,
                          run + 1,
                          place.seed,
                          place.file,
                          place.line)};
    }
  }
  return {spec::Verdict::pass, fmt::format("{} runs, each with seeds of its own", runs.size())};
}

}  // namespace sabath::compare
