#include "arrays/value_identity.hpp"
#include "tolerance.hpp"
#include "verdict.hpp"

#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/performance_facts.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sabath::compare {
namespace {

using spec::BaselineMetric;
using spec::Verdict;
using Seed = std::optional<std::uint64_t>;

constexpr std::uint64_t fewest_for_margin = 10;
constexpr double group_alpha = 0.05;
constexpr double prediction_alpha = 0.01;

struct Value {
  std::string run{};
  double value = 0;
  Seed seed{};
  std::string whole{};  ///< all digits, where no double holds them

  std::string text() const { return value_text(value, whole); }
  base::ExactNumber exact() const { return exact_value(value, whole); }
};

const std::string& whole_at(const BaselineMetric& reference, std::size_t i) {
  static const std::string none;
  return reference.whole ? (*reference.whole)[i] : none;
}

std::vector<Value> present(const JudgedMetric& runs) {
  std::vector<Value> result;
  for (std::size_t i = 0; i < runs.values.size(); ++i) {
    if (!runs.values[i]) continue;
    result.push_back({runs.runs[i], *runs.values[i], runs.seeds[i]});
    if (!runs.whole.empty()) result.back().whole = runs.whole[i];
  }
  return result;
}

bool is_constant(const BaselineMetric& reference) {
  const std::vector<double>& values = reference.values;
  const bool is_one_double = std::ranges::all_of(values, [&](double value) {
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(values.front());
  });
  const auto differs = [](const auto& whole) {
    return std::ranges::adjacent_find(whole, std::not_equal_to<>()) != whole.end();
  };
  return is_one_double && (!reference.whole || !differs(*reference.whole));
}

bool is_one(const std::vector<Seed>& seeds) {
  return std::ranges::adjacent_find(seeds, std::not_equal_to<>()) == seeds.end();
}

std::string seed_text(const Seed& seed) {
  return seed ? std::to_string(*seed) : "(none)";
}

std::optional<Requirement> required_rung(const BaselineMetric& reference,
                                         const BaselineTerms& terms) {
  if (terms.asked) return Requirement{*terms.asked, "--require"};
  const bool promised = is_one(terms.seeds) && (terms.deterministic || terms.recipe);
  if (!promised && !is_constant(reference)) return std::nullopt;
  if (terms.recipe) return Requirement{*terms.recipe, "the recipe"};
  return Requirement{spec::Rung::tolerance, "default"};
}

std::string allowed_text(const Requirement& required, const spec::Tolerance& tolerance) {
  if (required.rung == spec::Rung::bitwise) return "they must be equal to the bit";
  if (required.rung == spec::Rung::ulp) return fmt::format("{} ULP are allowed", *tolerance.ulp);
  return fmt::format(
      "allowed are {} relative, {} absolute", *tolerance.relative, *tolerance.absolute);
}

std::string apart_text(const Value& run, const Value& baseline) {
  return fmt::format("{} has {}, the baseline {}: relative {:.3g}",
                     run.run,
                     run.text(),
                     baseline.text(),
                     relative_distance(run.exact(), baseline.exact()));
}

BaselineVerdict judge_rung(const BaselineMetric& reference,
                           const std::vector<Value>& runs,
                           const BaselineTerms& terms,
                           const Requirement& required) {
  BaselineVerdict verdict;
  verdict.test = to_string(required.rung);
  const auto tolerance = applied_tolerance(base::ArrayType::float64, terms.tolerance, {});
  verdict.limit = rung_limit(required.rung, tolerance);
  const bool constant = is_constant(reference);
  const Value* without = nullptr;
  bool is_bitwise = true;
  for (const Value& run : runs) {
    bool has_reference = false;
    for (std::size_t i = 0; i < reference.values.size(); ++i) {
      if (!constant && terms.seeds[i] != run.seed) continue;
      has_reference = true;
      const double wanted = reference.values[i];
      const std::string& of_baseline = whole_at(reference, i);
      const bool is_same =
          std::bit_cast<std::uint64_t>(run.value) == std::bit_cast<std::uint64_t>(wanted) &&
          run.whole == of_baseline;
      is_bitwise = is_bitwise && is_same;
      if (is_same ||
          (required.rung != spec::Rung::bitwise &&
           holds_rung(run.exact(), exact_value(wanted, of_baseline), required.rung, tolerance))) {
        continue;
      }
      verdict.verdict = Verdict::fail;
      verdict.reason = fmt::format("{}; {} ({}: {})",
                                   apart_text(run, {{}, wanted, {}, of_baseline}),
                                   allowed_text(required, tolerance),
                                   required.from,
                                   to_string(required.rung));
      verdict.failed_run = run.run;
      verdict.failed_value = i;
      return verdict;
    }
    if (!has_reference && without == nullptr) without = &run;
  }
  if (without != nullptr) {
    verdict.reason = fmt::format(
        "the baseline has no run of seed {}, as {} has", seed_text(without->seed), without->run);
    return verdict;
  }
  verdict.verdict = Verdict::pass;
  verdict.reason = fmt::format(
      "{} ({}: {})",
      is_bitwise ? "equal to the bit" : fmt::format("equal within {}", to_string(required.rung)),
      required.from,
      to_string(required.rung));
  return verdict;
}

/// Says where statistics pass, but a recipe that promises equal runs of one seed has others.
std::string other_of_seed(const BaselineMetric& reference,
                          const std::vector<Value>& runs,
                          const BaselineTerms& terms) {
  if (!terms.deterministic && !terms.recipe) return {};
  const spec::Rung rung = terms.recipe.value_or(spec::Rung::tolerance);
  const BaselineVerdict held = judge_rung(reference, runs, terms, {rung, ""});
  if (!held.failed_value) return {};
  const auto run = std::ranges::find(runs, held.failed_run, &Value::run);
  const std::size_t i = *held.failed_value;
  const Value known{{}, reference.values[i], {}, whole_at(reference, i)};
  const auto allowed = applied_tolerance(base::ArrayType::float64, terms.tolerance, {});
  return fmt::format(
      "seed {}: the baseline has {}, this run {}: relative {:.3g}, {}; '--require {}' judges so",
      seed_text(run->seed),
      known.text(),
      run->text(),
      relative_distance(run->exact(), known.exact()),
      rung == spec::Rung::bitwise ? "not equal to the bit"
      : rung == spec::Rung::ulp   ? fmt::format("beyond {} ULP", *allowed.ulp)
                                  : fmt::format("beyond the tolerance {}", *allowed.relative),
      to_string(rung));
}

bool is_within(const spec::Bounds& bounds, const base::ExactNumber& number) {
  const auto& [value, rest] = number;
  return bounds.low <= value && value <= bounds.high && !(value == bounds.low && rest < 0) &&
         !(value == bounds.high && rest > 0);
}

BaselineVerdict judge_reviewed(const spec::Bounds& bounds, const std::vector<Value>& runs) {
  BaselineVerdict verdict;
  verdict.test = "reviewed bounds";
  verdict.limit = fmt::format("[{}, {}]", value_text(bounds.low, {}), value_text(bounds.high, {}));
  for (const Value& run : runs) {
    if (is_within(bounds, run.exact())) continue;
    verdict.verdict = Verdict::fail;
    verdict.reason = fmt::format("{} has {}, outside of the reviewed bounds [{}, {}]",
                                 run.run,
                                 run.text(),
                                 value_text(bounds.low, {}),
                                 value_text(bounds.high, {}));
    verdict.failed_run = run.run;
    return verdict;
  }
  verdict.verdict = Verdict::pass;
  verdict.reason = fmt::format("within the reviewed bounds [{}, {}] (n = {})",
                               value_text(bounds.low, {}),
                               value_text(bounds.high, {}),
                               runs.size());
  return verdict;
}

BaselineVerdict judge_one(const BaselineMetric& reference,
                          double value,
                          const std::string& digits,
                          const std::vector<double>& references) {
  const PredictionVerdict predicted =
      judge_prediction(value, moments(references), prediction_alpha, digits);
  BaselineVerdict verdict{predicted.verdict, "prediction interval", predicted.reason};
  if (predicted.interval)
    verdict.limit =
        fmt::format("[{:.6g}, {:.6g}]", predicted.interval->low, predicted.interval->high);
  if (predicted.p) verdict.chance = Chance{*predicted.p, prediction_alpha};
  const auto& bounds = reference.bounds;
  if (verdict.verdict != Verdict::pass || !bounds) return verdict;
  if (is_within(*bounds, exact_value(value, digits))) return verdict;
  verdict.verdict = Verdict::inconclusive;
  verdict.reason = fmt::format(
      "{}, but outside of the robust bounds [{}, {}]: outliers of the baseline make "
      "its interval wide",
      predicted.reason,
      value_text(bounds->low, {}),
      value_text(bounds->high, {}));
  return verdict;
}

/// The margin of the recipe has priority over that of the baseline.
std::optional<double> margin_of(const BaselineMetric& reference,
                                std::size_t samples,
                                const BaselineTerms& terms) {
  return terms.margin || samples < fewest_for_margin ? terms.margin : reference.margin;
}

BaselineVerdict judge_many(const BaselineMetric& reference,
                           const std::vector<double>& values,
                           const std::vector<double>& references,
                           const BaselineTerms& terms) {
  const Moments of_runs = moments(values);
  const Moments of_baseline = moments(references);
  const std::optional<double> margin = margin_of(reference, references.size(), terms);
  const GroupVerdict judged = judge_groups(of_runs, of_baseline, margin, group_alpha);
  std::string reason = fmt::format(
      "mean {:.6g}, of the baseline {:.6g}: {}", of_runs.mean, of_baseline.mean, judged.reason);
  if (!margin && reference.margin) {
    reason += fmt::format("; the baseline's own margin counts from {} runs on", fewest_for_margin);
  }
  BaselineVerdict verdict{judged.verdict, "equivalence", reason, judged.runs_needed};
  if (margin) verdict.limit = fmt::format("±{:.6g}", *margin);
  if (judged.welch) verdict.chance = Chance{judged.welch->p, group_alpha};
  return verdict;
}

BaselineVerdict judge_statistics(const BaselineMetric& reference,
                                 const std::vector<Value>& runs,
                                 const BaselineTerms& terms) {
  std::vector<double> values;
  std::vector<Seed> seeds;
  for (const Value& run : runs) {
    values.push_back(run.value);
    seeds.push_back(run.seed);
  }
  const std::vector<double> references = by_seed(reference.values, terms.seeds);
  RunValues all = values_of(reference);
  for (const Value& run : runs) {
    all.values.emplace_back(run.value);
    all.whole.push_back(run.whole);
  }
  // A baseline of one value is held to a rung.
  if (const auto found = judge_digits(all, margin_of(reference, references.size(), terms), false))
    return {found->verdict, "equivalence", found->reason};
  std::vector<double> samples = by_seed(values, seeds);
  const bool repeats_a_seed = is_one(seeds) && !is_one(terms.seeds);
  if (repeats_a_seed) samples = {moments(values).mean};
  const std::string digits = runs.size() == 1 ? runs.front().whole : std::string();
  BaselineVerdict verdict = samples.size() == 1
                                ? judge_one(reference, samples.front(), digits, references)
                                : judge_many(reference, samples, references, terms);
  if (samples.size() < values.size() || references.size() < reference.values.size()) {
    verdict.reason += fmt::format(
        "; runs of one seed count once: {} of {} runs, {} of {} of the "
        "baseline",
        samples.size(),
        values.size(),
        references.size(),
        reference.values.size());
  }
  return verdict;
}

BaselineVerdict judge_present(const BaselineMetric& reference,
                              const std::vector<Value>& runs,
                              const BaselineTerms& terms) {
  if (reference.n < reference.values.size()) {
    return {Verdict::inconclusive,
            "",
            fmt::format("{} of {} values of the baseline are not finite",
                        reference.values.size() - reference.n,
                        reference.values.size())};
  }
  for (const Value& run : runs) {
    if (std::isfinite(run.value)) continue;
    return {Verdict::fail,
            "finite",
            fmt::format("{} has {}, all values of the baseline are finite", run.run, run.value),
            {},
            {},
            run.run,
            {}};
  }
  if (!terms.asked && reference.bounds && reference.bounds->rule == spec::reviewed)
    return judge_reviewed(*reference.bounds, runs);
  for (const Value& run : runs) {
    if (!is_one(terms.seeds) || run.seed == terms.seeds.front()) continue;
    return {Verdict::not_comparable,
            "",
            fmt::format("all runs of the baseline have the seed {}, {} has {}",
                        seed_text(terms.seeds.front()),
                        run.run,
                        seed_text(run.seed))};
  }
  if (const auto required = required_rung(reference, terms))
    return judge_rung(reference, runs, terms, *required);
  BaselineVerdict verdict = judge_statistics(reference, runs, terms);
  if (verdict.verdict == Verdict::pass) verdict.note = other_of_seed(reference, runs, terms);
  return verdict;
}

/// Names a run that is judged by something else than the baseline's; empty: none is.
std::string other_judge(const BaselineMetric& reference, const JudgedMetric& runs) {
  for (std::size_t i = 0; i < runs.values.size(); ++i) {
    const auto judge = runs.judges.empty() ? std::nullopt : runs.judges[i];
    if (!runs.values[i] || judge == reference.judge) continue;
    return fmt::format(
        "{} is judged by '{}', the baseline by '{}': 'sabath baseline propose' adds an entry for "
        "such runs, 'sabath collect {} --with FILE' reads the run with another document",
        runs.runs[i],
        spec::judge_text(judge),
        spec::judge_text(reference.judge),
        runs.runs[i]);
  }
  return {};
}

/// For a test over all runs, names the run furthest from the mean of the baseline.
void name_failed_run(const BaselineMetric& reference,
                     const std::vector<Value>& runs,
                     BaselineVerdict& verdict) {
  if (verdict.verdict != Verdict::fail || !verdict.failed_run.empty()) return;
  const auto distance = [&](const Value& run) { return std::abs(run.value - reference.mean); };
  verdict.failed_run = std::ranges::max_element(runs, {}, distance)->run;
}

/// A run without a value does not agree.
BaselineVerdict with_missing(BaselineVerdict verdict, std::size_t present, std::size_t all) {
  if (present == all || verdict.verdict != Verdict::pass) return verdict;
  verdict.verdict = Verdict::inconclusive;
  verdict.reason = fmt::format(
      "{} of {} runs have no value; of the others: {}", all - present, all, verdict.reason);
  return verdict;
}

/// Student's interval of the ratio of geometric means at 0.05, with a pooled variance.
std::optional<Interval> pooled_ratio(const std::vector<double>& values,
                                     const std::vector<double>& reference) {
  const std::vector<double> of_values = logarithms(values);
  const std::vector<double> of_reference = logarithms(reference);
  if (of_values.empty() || of_reference.empty()) return std::nullopt;
  const Moments a = moments(of_values);
  const Moments b = moments(of_reference);
  const auto n = static_cast<double>(a.n);
  const auto m = static_cast<double>(b.n);
  const double freedom = n + m - 2;
  if (freedom < 1) return std::nullopt;
  const double variance = ((n - 1) * a.sd * a.sd + (m - 1) * b.sd * b.sd) / freedom;
  const double half = t_exceeded(0.025, freedom) * std::sqrt(variance * (1 / n + 1 / m));
  return Interval{std::exp(a.mean - b.mean - half), std::exp(a.mean - b.mean + half)};
}

std::string medians_text(const BaselineMetric& reference,
                         const std::vector<double>& values,
                         const SpeedVerdict& speed) {
  const std::string unit =
      reference.unit.empty() || reference.unit == "1" ? "" : " " + reference.unit;
  return fmt::format("median {:.4g}{} (n = {}), of the baseline {:.4g}{} (n = {}): ",
                     median(values),
                     unit,
                     values.size(),
                     speed.median_reference,
                     unit,
                     reference.values.size());
}

}  // namespace

std::vector<double> by_seed(const std::vector<double>& values, const Seeds& seeds) {
  return is_one(seeds) ? values : mean_by_sample(values, seeds);
}

void adjust_for_many(const std::vector<BaselineVerdict*>& verdicts) {
  std::vector<BaselineVerdict*> tested;
  std::vector<double> p;
  for (BaselineVerdict* verdict : verdicts) {
    if (!verdict->chance) continue;
    tested.push_back(verdict);
    p.push_back(verdict->chance->p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    BaselineVerdict& verdict = *tested[i];
    if (verdict.verdict != Verdict::fail || adjusted[i] < verdict.chance->alpha) continue;
    verdict.verdict = Verdict::inconclusive;
    verdict.reason += among_many_text(tested.size(), p[i], adjusted[i]);
  }
}

BaselineVerdict judge_result(const BaselineMetric& reference,
                             const JudgedMetric& runs,
                             const BaselineTerms& terms) {
  const std::vector<Value> values = present(runs);
  if (values.empty()) return {Verdict::inconclusive, "", "no run has a value"};
  if (std::string other = other_judge(reference, runs); !other.empty())
    return {Verdict::not_comparable, "", std::move(other)};
  if (reference.values.empty()) return {Verdict::inconclusive, "", "the baseline has no value"};
  BaselineVerdict verdict = judge_present(reference, values, terms);
  name_failed_run(reference, values, verdict);
  return with_missing(std::move(verdict), values.size(), runs.values.size());
}

BaselineVerdict judge_performance(const BaselineMetric& reference,
                                  const JudgedMetric& runs,
                                  const BaselineTerms& terms) {
  std::vector<double> values;
  for (const Value& value : present(runs))
    values.push_back(value.value);
  if (values.empty()) return {Verdict::inconclusive, "speed", "no run has a value"};
  if (logarithms(values).empty() || logarithms(reference.values).empty()) {
    return {Verdict::inconclusive, "speed", "a ratio needs values above zero on both sides"};
  }
  SpeedVerdict speed = judge_speed(reference.values, values, reference.better, terms.speed_margin);
  const bool higher = reference.better == spec::Better::higher;
  auto interval = speed.interval;
  if (!interval && reference.better != spec::Better::none) {
    interval =
        higher ? pooled_ratio(reference.values, values) : pooled_ratio(values, reference.values);
    const double margin = terms.speed_margin;
    if (interval) {
      const bool faster = interval->high < 1 - margin;
      const bool within = interval->low > 1 - margin && interval->high < 1 + margin;
      speed.verdict = interval->low > 1 + margin ? Verdict::fail
                      : within || faster         ? Verdict::pass
                                                 : Verdict::inconclusive;
      speed.reason = ratio_text(*interval, margin);
    }
  }
  if (speed.verdict == Verdict::inconclusive && interval)
    speed.reason += "; more runs would make that narrower";
  speed.reason += disturbed_text(runs.disturbed_runs, runs.values.size());
  BaselineVerdict verdict{
      speed.verdict, "speed", medians_text(reference, values, speed) + speed.reason};
  verdict.limit = fmt::format("{:g} % slower", 100 * terms.speed_margin);
  return with_missing(std::move(verdict), values.size(), runs.values.size());
}

}  // namespace sabath::compare
