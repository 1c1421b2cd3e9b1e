#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/statistical_power.hpp>

#include <fmt/format.h>

#include <cmath>

namespace sabath::compare {
namespace {

std::string counts(const Moments& a, const Moments& b) {
  return fmt::format("n = {} and {}", a.n, b.n);
}

/// Interval of the greater mean minus the other.
Interval distance_interval(const GroupVerdict& verdict) {
  const Interval& interval = verdict.equivalence->interval;
  return verdict.welch->difference < 0 ? Interval{-interval.high, -interval.low} : interval;
}

std::string no_margin_text(const Moments& a,
                           const Moments& b,
                           const GroupVerdict& verdict,
                           double alpha) {
  const Interval interval = distance_interval(verdict);
  std::string text = fmt::format(
      "not judged: the recipe gives no `margin`. The means differ by {:.4g} [{:.4g}, {:.4g}] "
      "({:g} % interval, {}",
      std::abs(verdict.welch->difference),
      interval.low,
      interval.high,
      100 * (1 - 2 * alpha),
      counts(a, b));
  if (verdict.hedges_g) text += fmt::format(", Hedges' g {:.3g}", std::abs(*verdict.hedges_g));
  return text + ")";
}

std::string effect_text(const GroupVerdict& verdict, double alpha) {
  const double difference = verdict.welch->difference;
  const Interval interval = distance_interval(verdict);
  std::string text = fmt::format("means {:.4g} apart, {:g} % interval [{:.4g}, {:.4g}]",
                                 std::abs(difference),
                                 100 * (1 - 2 * alpha),
                                 interval.low,
                                 interval.high);
  if (verdict.hedges_g) text += fmt::format(", Hedges' g {:.3g}", std::abs(*verdict.hedges_g));
  return text;
}

std::string undecided_text(const Moments& a,
                           const Moments& b,
                           const GroupVerdict& verdict,
                           const std::optional<AmongTests>& among) {
  const std::string adjusted =
      among ? fmt::format(", {:.3g} as one of {} tests", among->p, among->tests) : "";
  return fmt::format(
      "neither equivalent within {} (p = {:.3g}) nor different (p = {:.3g}{}) with {}",
      verdict.equivalence->margin,
      verdict.equivalence->p,
      verdict.welch->p,
      adjusted,
      counts(a, b));
}

/// Groups that each have one value: no spread exists to measure a difference by, and the margin
/// alone decides.
GroupVerdict judge_constant(const Moments& a, const Moments& b, std::optional<double> margin) {
  if (a.mean == b.mean) {
    return {spec::Verdict::pass,
            fmt::format("all runs have one value, {} ({})", a.mean, counts(a, b))};
  }
  const double apart = std::abs(a.mean - b.mean);
  const bool is_within = margin && apart <= *margin;
  GroupVerdict verdict{
      is_within ? spec::Verdict::pass : spec::Verdict::fail,
      fmt::format(
          "each group has one value, and they differ: {} and {}, {:.4g} apart{} without any "
          "spread ({})",
          a.mean,
          b.mean,
          apart,
          is_within ? fmt::format(", within {},", *margin)
          : margin  ? fmt::format(", not within {},", *margin)
                    : "",
          counts(a, b))};
  verdict.has_margin = margin.has_value();
  return verdict;
}

/// Of t = (value - mean) / (s sqrt(1 + 1/n)).
double prediction_p(double value, const Moments& reference) {
  if (value == reference.mean) return 1;
  if (reference.sd == 0 || !std::isfinite(value)) return 0;
  const auto n = static_cast<double>(reference.n);
  const double unit = unit_of(reference.sd);
  const double apart = std::abs(value / unit - reference.mean / unit);
  const double t = apart / (reference.sd / unit * std::sqrt(1 + 1 / n));
  return 2 * t_tail(t, n - 1);
}

/// "[0.9, 1.1]". Where both ends are one double: "the 12.5 around about 1.152921504606847e+18".
std::string prediction_text(const Interval& interval, const Moments& reference, double alpha) {
  if (interval.low < interval.high || !(reference.sd > 0))
    return fmt::format("[{}, {}]", interval.low, interval.high);
  Moments centred = reference;
  centred.mean = 0;
  const auto around = prediction_interval(centred, alpha);
  return fmt::format("the {:.3g} around about {}", around ? around->high : 0, interval.low);
}

}  // namespace

GroupVerdict judge_groups(const Moments& a,
                          const Moments& b,
                          std::optional<double> margin,
                          double alpha,
                          bool find_runs_needed,
                          std::optional<AmongTests> among) {
  if (a.n == 0 || b.n == 0) {
    return {spec::Verdict::inconclusive,
            fmt::format("a group has no finite value ({})", counts(a, b))};
  }
  if (a.n < 2 || b.n < 2) {
    return {spec::Verdict::inconclusive,
            fmt::format("a group of one run shows no spread ({})", counts(a, b))};
  }
  if (!std::isfinite(a.mean) || !std::isfinite(b.mean))
    return {spec::Verdict::inconclusive, "a value is not finite"};
  if (a.sd == 0 && b.sd == 0) return judge_constant(a, b, margin);
  GroupVerdict result;
  result.has_margin = margin.has_value();
  result.welch = welch_test(a, b);
  if (!result.welch) {
    result.reason = "a standard deviation, or the means' difference, is too large for a double";
    return result;
  }
  result.hedges_g = hedges_g(a, b);
  result.equivalence = equivalence_test(a, b, margin.value_or(2 * mean_sd(a, b)), alpha);
  if (!result.equivalence) {
    result.reason = "the margin is not a number of zero or more";
    return result;
  }
  const bool differ = (among ? among->p : result.welch->p) < alpha;
  const std::string effect = effect_text(result, alpha);
  if (!margin) {
    result.reason = no_margin_text(a, b, result, alpha);
  } else if (result.equivalence->holds) {
    result.verdict = spec::Verdict::pass;
    result.reason = fmt::format("{} within {} (p = {:.3g}, {}): {}",
                                differ ? "different but negligible" : "equivalent",
                                *margin,
                                result.equivalence->p,
                                counts(a, b),
                                effect);
  } else if (differ) {
    result.verdict = spec::Verdict::fail;
    result.reason = fmt::format("different (p = {:.3g}) and not within {} ({}): {}",
                                result.welch->p,
                                *margin,
                                counts(a, b),
                                effect);
  } else {
    result.reason = undecided_text(a, b, result, among) + ": " + effect;
    if (*margin == 0) result.reason += "; values that vary are never within a margin of zero";
    if (!find_runs_needed) return result;
    const std::size_t tests = among ? among->tests : 1;
    result.runs_needed =
        runs_to_decide({result.welch->difference, *margin, a.sd, b.sd, tests}, alpha);
    result.reason += result.runs_needed
                         ? fmt::format("; about {} runs a side would decide", *result.runs_needed)
                         : "; no number of runs up to 100000 a side would decide";
  }
  return result;
}

PredictionVerdict judge_prediction(double value,
                                   const Moments& reference,
                                   double alpha,
                                   const std::string& digits) {
  constexpr std::uint64_t fewest = 5;
  PredictionVerdict result;
  if (reference.n < fewest) {
    result.reason = fmt::format(
        "a prediction interval needs at least {} references, there are {}", fewest, reference.n);
    return result;
  }
  result.interval = prediction_interval(reference, alpha);
  if (!result.interval || !std::isfinite(reference.sd)) {
    result.interval.reset();
    result.reason = std::isfinite(reference.mean)
                        ? "the references' standard deviation is too large for a double"
                        : "a reference is not finite";
    return result;
  }
  const bool inside = result.interval->contains(value);
  result.p = prediction_p(value, reference);
  result.verdict = inside ? spec::Verdict::pass : spec::Verdict::fail;
  result.reason = fmt::format("{} {} {}, where one more run lies with {:g} % (n = {})",
                              digits.empty() ? fmt::format("{}", value) : digits,
                              inside ? "lies in" : "lies outside",
                              prediction_text(*result.interval, reference, alpha),
                              100 * (1 - alpha),
                              reference.n);
  if (reference.sd > 0 && std::isfinite(value)) {
    result.reason += fmt::format(", {:.3g} standard deviations from the mean {:.6g}",
                                 std::abs(value - reference.mean) / reference.sd,
                                 reference.mean);
  }
  return result;
}

std::string among_many_text(std::size_t metrics, double p, double adjusted) {
  return fmt::format(
      "; among {} metrics that differs by chance too often (p = {:.3g}, adjusted by Holm {:.3g})",
      metrics,
      p,
      adjusted);
}

}  // namespace sabath::compare
