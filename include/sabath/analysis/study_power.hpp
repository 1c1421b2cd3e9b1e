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

/// What a study can show of one metric: how likely two of its settings without a difference are
/// found equivalent within the recipe's margin.
struct MetricPower {
  std::string stage{};  ///< empty where no run tells it
  std::string metric{};
  std::string unit{};
  double margin = 0;
  std::optional<double> deviation{};  ///< between runs of one setting; nothing: none tells it
  std::size_t runs = 0;               ///< that tell it
  std::optional<double> power{};      ///< nothing without the deviation
};

struct StudyPower {
  std::size_t runs = 0;     ///< of the setting that has the fewest
  std::size_t seeds = 0;    ///< how many different ones the setting with the fewest of them has
  std::size_t counted = 0;  ///< runs of the catalog that count and are of this definition
  std::vector<MetricPower> metrics{};  ///< the recipe's metrics that have a margin
};

/// Runs of one seed differ in nothing that a result's spread comes from, so seeds are counted, and
/// the deviation is that of the catalog's runs of this definition that differ in their seeds alone,
/// pooled over their settings. Reads one record for each recipe document that these runs were of.
StudyPower study_power(const spec::Recipe& recipe,
                       const std::vector<spec::StudyPoint>& points,
                       const catalog::Catalog* catalog,
                       base::WallTime now);

}  // namespace sabath::analysis
