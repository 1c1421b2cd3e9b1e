#include "arrays/value_identity.hpp"

#include <sabath/compare/baseline_verdict.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::compare {
namespace {

using spec::BaselineMetric;

/// Values of a side, each with the text that has all its digits.
struct SideValues {
  std::vector<double> values{};
  std::vector<std::string> texts{};

  void add(double value, const std::string& whole) {
    values.push_back(value);
    texts.push_back(value_text(value, whole));
  }
  bool is_uniform() const {
    return std::ranges::adjacent_find(texts, std::not_equal_to<>()) == texts.end();
  }
};

/// What a side is shown as, with the number that differences are taken of.
struct Figure {
  std::string text{};
  double value = 0;
};

Figure figure_of(const SideValues& side) {
  if (side.texts.empty()) return {};
  if (side.texts.size() == 1) return {side.texts.front(), side.values.front()};
  if (side.is_uniform())
    return {fmt::format("{} (n = {})", side.texts.front(), side.texts.size()), side.values.front()};
  const Moments all = moments(side.values);
  return {fmt::format("{:.6g} ± {:.2g} (n = {})", all.mean, all.sd, all.n), all.mean};
}

Figure median_of(const SideValues& side) {
  if (side.values.empty()) return {};
  const double middle = median(side.values);
  return {fmt::format("{:.4g} (n = {})", middle, side.values.size()), middle};
}

std::string whole_at(const std::vector<std::string>& whole, std::size_t i) {
  return i < whole.size() ? whole[i] : std::string();
}

SideValues reference_side(const BaselineMetric& reference,
                          const BaselineTerms& terms,
                          const std::optional<std::optional<std::uint64_t>>& seed) {
  SideValues side;
  const std::vector<std::string> whole = reference.whole.value_or(std::vector<std::string>());
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const bool is_asked = !seed || (i < terms.seeds.size() && terms.seeds[i] == *seed);
    if (is_asked) side.add(reference.values[i], whole_at(whole, i));
  }
  return side;
}

bool is_rung(const std::string& test) {
  return spec::parse_enum<spec::Rung>(test).has_value();
}

std::string difference_text(const Figure& baseline, const Figure& now) {
  if (baseline.text.empty() || now.text.empty()) return {};
  // Whole numbers can differ in digits that a double does not have.
  if (baseline.value == now.value && baseline.text != now.text &&
      baseline.text.find(' ') == std::string::npos && now.text.find(' ') == std::string::npos)
    return "only in digits beyond a double";
  return difference_figure(baseline.value, now.value);
}

}  // namespace

std::string rung_limit(spec::Rung rung, const spec::Tolerance& tolerance) {
  if (rung == spec::Rung::bitwise) return "equal bits";
  if (rung == spec::Rung::ulp) return fmt::format("{} ULP", tolerance.ulp.value_or(0));
  const double relative = tolerance.relative.value_or(0);
  const double absolute = tolerance.absolute.value_or(0);
  if (absolute == 0) return fmt::format("relative {:g}", relative);
  if (relative == 0) return fmt::format("±{:g}", absolute);
  return fmt::format("relative {:g}, absolute {:g}", relative, absolute);
}

std::string difference_figure(double baseline, double now) {
  const double difference = now - baseline;
  if (difference == 0) return "0";
  if (!std::isfinite(difference)) return "not finite";
  std::string text = fmt::format("{:+.3g}", difference);
  const double percent = 100 * difference / std::abs(baseline);
  if (std::isfinite(percent)) text += fmt::format(" ({:+.3g} %)", percent);
  return text;
}

spec::CaseFigures figures_of(const BaselineMetric& reference,
                             const JudgedMetric& runs,
                             const BaselineTerms& terms,
                             const BaselineVerdict& verdict) {
  const bool shows_pair = is_rung(verdict.test) || verdict.test == "reviewed bounds";
  SideValues now;
  std::optional<std::optional<std::uint64_t>> seed;
  for (std::size_t i = 0; i < runs.values.size(); ++i) {
    const bool is_other =
        shows_pair && !verdict.failed_run.empty() && runs.runs[i] != verdict.failed_run;
    if (!runs.values[i] || is_other) continue;
    now.add(*runs.values[i], whole_at(runs.whole, i));
    seed = runs.seeds[i];
  }
  SideValues known = reference_side(reference, terms, std::nullopt);
  if (now.values.size() == 1 && is_rung(verdict.test)) {
    // A rung holds a run against those of its seed.
    const SideValues of_seed = reference_side(reference, terms, seed);
    if (!of_seed.values.empty()) known = of_seed;
  }
  spec::CaseFigures figures;
  const bool is_speed = verdict.test == "speed";
  const Figure baseline = is_speed ? median_of(known) : figure_of(known);
  const Figure found = is_speed ? median_of(now) : figure_of(now);
  figures.baseline = baseline.text;
  figures.now = found.text;
  figures.difference = difference_text(baseline, found);
  figures.limit = verdict.limit;
  return figures;
}

}  // namespace sabath::compare
