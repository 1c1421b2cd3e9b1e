#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Power of a study for one metric: probability that two settings without a difference are found
/// equivalent within the margin of the recipe.
struct MetricPower {
  std::string stage{};  ///< empty where no run shows it
  std::string metric{};
  std::string unit{};
  double margin = 0;
  std::optional<double> deviation{};  ///< between runs of one setting; nothing: unknown
  std::size_t runs = 0;               ///< that show it
  std::optional<double> power{};      ///< nothing without the deviation
};

struct StudyPower {
  std::size_t runs = 0;                ///< of the setting with the fewest
  std::size_t seeds = 0;               ///< distinct ones, likewise
  std::size_t counted = 0;             ///< runs of the catalog with this definition
  std::vector<MetricPower> metrics{};  ///< the recipe's metrics that have a margin
};

/// Computes the power of a study. Counts seeds, as runs of one seed do not show the spread of
/// results. The deviation comes from runs of the catalog with this definition that differ in their
/// seeds alone, pooled over their settings. Reads one record for each recipe document of these
/// runs.
StudyPower study_power(const spec::Recipe& recipe,
                       const std::vector<spec::StudyPoint>& points,
                       const catalog::Catalog* catalog,
                       base::WallTime now);

}  // namespace sabath::analysis
