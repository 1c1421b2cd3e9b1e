#pragma once

#include <sabath/spec/baseline.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_count.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// `run`: that a run came to a good end; the others are metrics, or what two runs are compared by.
enum class CaseKind { run, result, performance };
constexpr auto words_of(CaseKind) {
  return std::to_array<std::string_view>({"run", "result", "performance"});
}

/// What the baseline says of a failure that is known: nothing, that it is known, that it did not
/// come, or that its time is over.
enum class Expectation { none, expected_failure, unexpected_pass, expired };
constexpr auto words_of(Expectation) {
  return std::to_array<std::string_view>(
      {"none", "expected failure", "unexpected pass", "expired"});
}

/// What a metric was judged by, for tables of people. Each text may be empty.
struct CaseFigures {
  std::string baseline{};    ///< a value, or "mean ± sd (n = 10)"; else the first run's value
  std::string now{};         ///< the same of the runs
  std::string difference{};  ///< "+0.02 (+4 %)"
  std::string limit{};       ///< "±0.05", "[0.9, 1.1]", "relative 1e-06"

  bool operator==(const CaseFigures&) const = default;
};

/// One thing that was judged.
struct CheckCase {
  CaseKind kind = CaseKind::result;
  std::string name{};  ///< a metric, an output, or a run
  Verdict verdict = Verdict::inconclusive;
  std::string test{};  ///< by what; empty: it did not come to one
  std::string reason{};
  Expectation expectation = Expectation::none;
  double wall_s = 0;                     ///< of a run
  std::optional<std::string> judge{};    ///< of a metric, as in BaselineMetric
  std::optional<CaseFigures> figures{};  ///< nothing: nothing was compared
  /// What it counts as: an expected failure is none.
  Verdict counts_as() const {
    return expectation == Expectation::expected_failure ? Verdict::pass : verdict;
  }
};

/// Runs of one thing at one place.
struct CheckGroup {
  std::string recipe{};
  BaselineKey of{};
  std::vector<std::string> runs{};  ///< that are judged, oldest first
  std::string against{};            ///< which baseline, or what instead
  std::vector<CheckCase> cases{};   ///< the worst first
  std::vector<std::string> notes{};
  std::optional<Verdict> result{};       ///< nothing: there was none to judge
  std::optional<Verdict> performance{};  ///< the same
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};
};

/// `check`
struct CheckReport {
  std::string what{};              ///< the recipe or selection
  std::string baseline{};          ///< its file; empty: the runs were held against one another
  std::optional<RunCount> runs{};  ///< nothing: nothing was run
  std::vector<CheckGroup> groups{};
  std::vector<std::string> notes{};
  std::optional<Verdict> result{};
  std::optional<Verdict> performance{};
  Verdict verdict = Verdict::inconclusive;
  std::string reason = "no run was judged";
  std::uint64_t count(Verdict verdict) const;  ///< cases that count as this
  std::uint64_t count(Expectation expectation) const;
};

/// FAIL before NOT-COMPARABLE before INCONCLUSIVE before PASS.
bool is_worse(Verdict a, Verdict b);

nlohmann::ordered_json to_json(const CheckReport& report);

}  // namespace sabath::spec
