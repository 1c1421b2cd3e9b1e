#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// The ladder of agreement, weakest first, so that a greater rung is a stronger claim.
enum class Rung { tolerance, ulp, bitwise };
std::string_view to_string(Rung rung);
std::optional<Rung> parse_rung(std::string_view text);

enum class Better { none, lower, higher };
std::string_view to_string(Better better);

/// Symmetric: abs(a-b) <= absolute + relative * max(abs a, abs b).
struct Tolerance {
  std::optional<double> absolute{};
  std::optional<double> relative{};
  std::optional<std::uint64_t> ulp{};

  bool operator==(const Tolerance&) const = default;
};

struct MetricSpec {
  std::string name{};
  std::string from = "jsonl";
  std::string unit{};
  Better better = Better::none;
  bool performance = false;  ///< "kind": "performance": judged apart from results
  Tolerance tolerance{};
  std::optional<double> margin{};
  int warmup = 0;  ///< leading points that performance statistics leave out
  std::string description{};

  bool operator==(const MetricSpec&) const = default;
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

  bool operator==(const MetricSummary&) const = default;
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
