#pragma once

#include <sabath/spec/metric.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// A later reading of a finished run's metrics: collect/<number>/summary.json. The patterns that it
/// was done with lie beside it, as they were given.
struct Collection {
  int number = 0;
  std::string run_id{};
  std::string created{};  ///< RFC 3339
  std::string sabath_version{};
  std::vector<MetricSummary> metrics{};
  std::optional<Collected> collected{};

  bool operator==(const Collection&) const = default;
};

nlohmann::ordered_json to_json(const Collection& collection);
Collection parse_collection(std::string_view text, const std::string& origin);

/// The metrics of a document: {"schema": 1, "metrics": {...}}, written as in a recipe, or a whole
/// recipe. Throws Error{usage}.
std::vector<MetricSpec> parse_patterns(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
