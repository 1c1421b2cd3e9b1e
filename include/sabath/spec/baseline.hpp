#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/parameter.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// In the place of a site or device: all of them.
inline constexpr const char* any_of_all = "*";

/// What runs must have in common to be held against one another: they and a baseline.
struct BaselineKey {
  base::Digest recipe_definition{};
  std::string task{};            ///< of the recipe; empty: the stages without one
  ParameterValues parameters{};  ///< those that affect the result
  base::Digest data{};           ///< of the facet
  std::string site{};            ///< "local" where no scheduler executed it; or any_of_all
  std::string device{};          ///< the models of GPUs, else of CPUs; or any_of_all

  bool operator==(const BaselineKey&) const = default;
};

/// One of the runs that a baseline was made from.
struct BaselineRun {
  std::string run_id{};
  std::string node{};
  std::string created{};
  std::optional<std::uint64_t> seed{};

  bool operator==(const BaselineRun&) const = default;
};

/// The rule of bounds that a person set: they decide alone.
inline constexpr const char* reviewed = "reviewed";

/// Where one run is to lie.
struct Bounds {
  double low = 0;
  double high = 0;
  std::string rule{};  ///< how they were made, or `reviewed`

  bool operator==(const Bounds&) const = default;
};

/// One metric of the runs: of a result the value that each is judged by, of performance the median.
struct BaselineMetric {
  std::string name{};  ///< "train/loss"
  std::string unit{};
  Better better = Better::none;
  bool performance = false;
  std::uint64_t n = 0;  ///< finite values; what follows is over them
  double mean = 0;
  double sd = 0;
  double median = 0;
  double mad = 0;  ///< median of the distances from the median, not scaled
  double min = 0;
  double max = 0;
  std::optional<Bounds> bounds{};
  std::optional<double> margin{};  ///< how far means may lie apart and count as equal
  std::optional<std::string> margin_from{};
  std::vector<double> values{};  ///< as many as there are runs, in their order
  /// Of each value all digits where it is a whole number that no double holds, else empty; nothing:
  /// there is none.
  std::optional<std::vector<std::string>> whole{};
  std::optional<std::string> judge{};  ///< as in MetricSummary; nothing: the last values

  bool operator==(const BaselineMetric&) const = default;
};

/// All digits of the least and largest value where doubles do not have them; else empty.
struct BaselineDigits {
  std::string min{};
  std::string max{};

  bool is_one() const { return !min.empty() && min == max; }
};
BaselineDigits digits_of(const BaselineMetric& metric);

struct Acceptance {
  std::string by{};
  std::string at{};  ///< RFC 3339
  std::string note{};

  bool operator==(const Acceptance&) const = default;
};

struct BaselineEntry {
  BaselineKey holds_for{};
  base::Digest recipe_digest{};  ///< of the document, as the newest run had it
  std::string selection{};
  std::string sabath_version{};
  std::vector<BaselineRun> runs{};  ///< oldest first
  /// Of `code` and `environment`: the facet's digest, or "several".
  std::map<std::string, std::string> facets{};
  std::vector<BaselineMetric> metrics{};  ///< by name
  std::vector<std::string> without{};     ///< declared metrics that not every run had
  std::vector<std::string> notes{};       ///< what a reviewer should know
  std::optional<Acceptance> accepted{};   ///< nothing: it is proposed, and nothing is held to it

  bool operator==(const BaselineEntry&) const = default;
};

/// A metric that is known to fail, for a time.
struct ExpectedFailure {
  std::string metric{};
  std::string reason{};
  std::string until{};  ///< the last day, "2026-12-31"
  std::optional<std::string> site{};
  std::optional<std::string> device{};

  bool operator==(const ExpectedFailure&) const = default;
};

/// What is accepted of a recipe's runs: a file that people review and keep with their code. Entries
/// are only ever added; of those that hold for the same the newest accepted one counts, and the
/// others are its history.
struct Baseline {
  std::string recipe{};
  std::vector<BaselineEntry> entries{};
  std::vector<ExpectedFailure> expected_failures{};

  bool operator==(const Baseline&) const = default;
};

/// Of a metric with `whole` numbers the values, the least and the largest are JSON integers with
/// all digits.
nlohmann::ordered_json to_json(const Baseline& baseline);
/// Throws Error{usage} with all problems.
Baseline parse_baseline(std::string_view text, const std::string& origin);

/// Is it a day of the calendar, as "2026-12-31"?
bool is_date(std::string_view text);

}  // namespace sabath::spec
