#pragma once

#include <sabath/spec/enum_words.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::base {
class Regex;
}

namespace sabath::spec {

/// The ladder of agreement, weakest first, so that a greater rung is a stronger claim.
enum class Rung { tolerance, ulp, bitwise };
constexpr auto words_of(Rung) {
  return std::to_array<std::string_view>({"tolerance", "ulp", "bitwise"});
}

enum class Better { none, lower, higher };
constexpr auto words_of(Better) {
  return std::to_array<std::string_view>({"none", "lower", "higher"});
}

/// Symmetric: abs(a-b) <= absolute + relative * max(abs a, abs b).
struct Tolerance {
  std::optional<double> absolute{};
  std::optional<double> relative{};
  std::optional<std::uint64_t> ulp{};

  bool operator==(const Tolerance&) const = default;
};

/// What a metric is read from; the words of a recipe's "from".
enum class SourceKind { jsonl, regex, key_value, csv, mllog, tensorboard };
constexpr auto words_of(SourceKind) {
  return std::to_array<std::string_view>(
      {"jsonl", "regex", "key_value", "csv", "mllog", "tensorboard"});
}

/// Where a metric is found in what a stage leaves.
struct MetricSource {
  SourceKind kind = SourceKind::jsonl;
  std::string pattern{};  ///< of kind regex
  std::string file{};     ///< "stdout", "stderr", or a path that may have '*' and '?'; empty: usual
  std::string key{};      ///< what it is called there (column, tag, key, group); empty: as here
  std::string stage{};    ///< the only one that reports it; empty: any

  bool operator==(const MetricSource&) const = default;
};

/// Which of its values a result is judged by: that value stands for the run.
enum class JudgeKind { last, best, mean_of_last };
constexpr auto words_of(JudgeKind) {
  return std::to_array<std::string_view>({"last", "best", "mean_of_last"});
}

struct Judge {
  JudgeKind kind = JudgeKind::last;
  int values = 0;  ///< of mean_of_last: how many

  bool operator==(const Judge&) const = default;
  /// "best", "mean of last 5"; nothing for the last value.
  std::optional<std::string> label() const;
};

struct MetricSpec {
  std::string name{};
  MetricSource from{};
  std::string unit{};
  Better better = Better::none;
  bool performance = false;  ///< "kind": "performance": judged apart from results
  Tolerance tolerance{};
  std::optional<double> margin{};
  Judge judge{};                   ///< of a result
  int warmup = 0;                  ///< leading points that performance statistics leave out
  std::optional<double> target{};  ///< the time until it is reached is a metric of its own
  std::string description{};

  bool operator==(const MetricSpec&) const = default;
  /// What the source calls it.
  const std::string& key() const { return from.key.empty() ? name : from.key; }
};

/// Summary of one series: what the record and the catalog keep.
struct MetricSummary {
  std::string stream{};  ///< the stage that reported
  std::string name{};
  std::string unit{};
  Better better = Better::none;
  bool performance = false;
  std::uint64_t points = 0;
  std::uint64_t not_finite = 0;
  double first = std::numeric_limits<double>::quiet_NaN();
  double last = std::numeric_limits<double>::quiet_NaN();
  double min = std::numeric_limits<double>::quiet_NaN();  ///< over finite points
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();  ///< after warm-up
  std::optional<std::string> judge{};  ///< Judge::label(); nothing: judged by the last value
  std::optional<double> judged{};      ///< the value that `judge` names

  bool operator==(const MetricSummary&) const = default;
};

/// The groups of a pattern that hold the value of the metric `key`. These are the groups of that
/// name, else those called "value", else the only group of the pattern.
std::vector<int> value_groups(const base::Regex& pattern, const std::string& key);

/// A seed and the line of the code that reported it, so that two from one line can be compared.
struct SeedPlace {
  std::string seed{};
  std::string file{};
  std::int64_t line = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 behind <=> for a pointer
  auto operator<=>(const SeedPlace&) const = default;
};

/// What collecting found beside metrics: what the code itself said of its run, and what a person
/// should know of the search.
struct Collected {
  std::map<std::string, std::string> parameters{};  ///< that the code reported (MLLOG)
  std::vector<std::string> seeds{};                 ///< that the code reported
  std::vector<std::string> notes{};                 ///< declared and not found; not a number ...
  /// Of the seeds; nothing: nobody looked (an earlier sabath).
  std::optional<std::vector<SeedPlace>> seed_places{};

  bool operator==(const Collected&) const = default;
  bool empty() const { return parameters.empty() && seeds.empty() && notes.empty(); }
};

/// One metric's points in columns; all of one length.
struct Series {
  std::string stream{};
  std::string name{};
  std::vector<std::int32_t> rank{};
  std::vector<std::int64_t> step{};  ///< base::no_step where the code did not say
  std::vector<std::int64_t> epoch{};
  std::vector<double> value{};
  std::vector<double> time_s{};  ///< NaN where the code did not say

  std::size_t size() const noexcept { return value.size(); }
  bool operator==(const Series&) const = default;
};

}  // namespace sabath::spec
