#pragma once

#include <sabath/spec/metric.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

enum class Verdict { pass, fail, inconclusive, not_comparable };
constexpr auto words_of(Verdict) {
  return std::to_array<std::string_view>({"PASS", "FAIL", "INCONCLUSIVE", "NOT-COMPARABLE"});
}

/// What kind of repetition a pair is, from its facets (ACM badging v1.1's terms, refined).
enum class Repetition { repeat, resample, reproduce, revise, replicate, different };
constexpr auto words_of(Repetition) {
  return std::to_array<std::string_view>(
      {"repeat", "resample", "reproduce", "revise", "replicate", "different"});
}

/// One item of a facet in which two runs differ; a side that lacks it is empty, an
/// empty value is `empty_value`.
struct FacetDifference {
  std::string facet{};
  std::string item{};
  std::string a{};
  std::string b{};

  bool operator==(const FacetDifference&) const = default;
};

/// A file in which the code of two runs differs.
struct CodeDifference {
  std::string path{};       ///< in the recipe's folder
  std::string change{};     ///< "added" (only B has it), "removed" (only A has it), "changed"
  std::uint64_t added = 0;  ///< lines of B that A has not, of text
  std::uint64_t removed = 0;
  std::string diff{};  ///< unified, from A to B, as far as there was room; nothing that is secret
  std::string note{};  ///< why a diff, or a part of it, is missing; what differs beside the content
};

/// Where two series or arrays part: a step of a metric, or an index of an array.
struct Divergence {
  std::string where{};        ///< "step 12 (epoch 1)", "[3, 14, 2]"
  std::int64_t position = 0;  ///< step, or flat index
  double a = 0;
  double b = 0;
  double relative = 0;  ///< abs(a-b) / max(abs a, abs b)
  std::uint64_t ulps = 0;
  /// All digits of both, where one is a whole number beyond those that a double has exactly.
  std::optional<std::string> whole_a{};
  std::optional<std::string> whole_b{};

  /// As short as is unique among all.
  std::string text_a() const;
  std::string text_b() const;
  bool operator==(const Divergence&) const = default;
};

/// How one metric's series, or one array of an output, agree.
struct ItemComparison {
  std::string name{};          ///< "train/loss", "predictions.h5:/predicted"
  std::uint64_t compared = 0;  ///< pairs of values
  std::uint64_t missing = 0;   ///< records or elements that only one side has
  std::string
      structure{};  ///< a difference of shape, type or text, in words; such an item holds no rung
  std::uint64_t different = 0;  ///< values that are not bitwise equal
  std::uint64_t beyond_tolerance = 0;
  std::uint64_t nan_pairs = 0;  ///< NaN on both sides, counted as equal
  std::uint64_t max_ulps = 0;
  std::uint64_t p999_ulps = 0;  ///< 99.9th percentile over compared values
  double max_relative = 0;
  double max_absolute = 0;
  Tolerance tolerance{};                        ///< the one that was applied, defaults filled in
  std::optional<Rung> strongest{};              ///< nothing when none holds
  std::optional<Divergence> first_bitwise{};    ///< first that differs at all
  std::optional<Divergence> first_ulp{};        ///< first beyond k ULP
  std::optional<Divergence> first_tolerance{};  ///< first beyond the tolerance
  /// Of what is beyond its tolerance, where there are perturbed reruns: does it lie within their
  /// envelope, a rung below the tolerance?
  std::optional<bool> within_envelope{};
  std::optional<Divergence> first_envelope{};  ///< first outside of it
  /// Why it cannot be said whether the rungs below bitwise hold; nothing: it can.
  std::optional<std::string> undecided{};
  /// First beyond 1e-6, 1e-4 and 1e-2 relative, where there is one.
  std::array<std::optional<Divergence>, 3> growth{};
  /// Of predictions: how many there are, and the share of them that are others in B.
  std::optional<std::uint64_t> predictions{};
  std::optional<double> churn{};
  bool comes_back = false;  ///< equal again at the last compared value after a difference
  bool judged = true;       ///< false: shown, but not part of the verdict (performance, undeclared)

  bool operator==(const ItemComparison&) const = default;
};

/// What a row of performance tells of. Time to quality and speed are kept apart: a run that is
/// faster by the step can need more steps.
enum class PerformanceKind { whole_run, speed, time_to_quality, quality };
constexpr auto words_of(PerformanceKind) {
  return std::to_array<std::string_view>({"whole_run", "speed", "time_to_quality", "quality"});
}

/// A number of performance of the two sides: medians over what comes after the warm-up. Only what a
/// run tells more than once is judged: of one value a side no spread is known.
struct PerformanceRow {
  std::string name{};
  std::string unit{};
  double median_a = 0;
  double median_b = 0;
  std::uint64_t n_a = 0;
  std::uint64_t n_b = 0;
  PerformanceKind kind = PerformanceKind::speed;
  Better better = Better::none;
  /// Of the medians, at 95 %, from the order of the values; nothing for fewer than 6.
  std::optional<double> median_a_low{};
  std::optional<double> median_a_high{};
  std::optional<double> median_b_low{};
  std::optional<double> median_b_high{};
  std::optional<double> cv_a{};  ///< standard deviation over mean; nothing for n < 2
  std::optional<double> cv_b{};
  std::optional<double> ratio{};      ///< of the medians, B over A or turned: above 1 B is worse
  std::optional<double> ratio_low{};  ///< its interval; docs/formats/comparison.md
  std::optional<double> ratio_high{};
  std::optional<double> margin{};    ///< what it may differ from 1 by
  std::optional<Verdict> verdict{};  ///< nothing: shown, not judged
  std::string reason{};
};

struct Comparison {
  std::string a{};
  std::string b{};
  Repetition repetition = Repetition::repeat;
  std::vector<FacetDifference> differences{};
  std::vector<std::string> environment{};  ///< what differs in it, in words
  std::vector<CodeDifference> code{};      ///< where the code differs: files, by path
  std::string code_note{};                 ///< what is not known of that; empty: nothing
  std::vector<ItemComparison> metrics{};
  std::vector<ItemComparison> outputs{};
  std::vector<PerformanceRow> performance{};
  std::optional<Rung> strongest{};
  Rung required = Rung::tolerance;
  std::string
      required_from{};  ///< "--require", "the recipe", "a repeat of a deterministic recipe" ...
  Verdict result = Verdict::inconclusive;
  std::string reason{};  ///< one sentence
  std::optional<Divergence> first_divergence{};
  std::string first_divergence_in{};  ///< the item
  std::string likely_cause{};         ///< the earliest rung of the cascade that differs, in words
  /// Apart from `result`: FAIL where one side is slower than its margin allows, PASS where none is.
  Verdict performance_verdict = Verdict::inconclusive;
  std::string performance_reason{};              ///< one sentence
  std::optional<std::string> reference{};        ///< "a" or "b"; nothing: they are peers
  std::optional<std::uint64_t> envelope_runs{};  ///< perturbed reruns of the reference
};

nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace sabath::spec
