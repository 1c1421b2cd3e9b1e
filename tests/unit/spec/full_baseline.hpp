#pragma once

#include <sabath/spec/baseline.hpp>

#include <string>

namespace sabath::test {

/// With every key that the document has.
inline spec::Baseline full_baseline() {
  spec::BaselineMetric metric;
  metric.name = "train/loss";
  metric.unit = "1";
  metric.better = spec::Better::lower;
  metric.n = 2;
  metric.values = {0.25, 0.75};
  metric.mean = metric.median = 0.5;
  metric.sd = 0.3535533905932738;
  metric.mad = 0.25;
  metric.min = 0.25;
  metric.max = 0.75;
  metric.bounds = spec::Bounds{0.125, 0.875, spec::reviewed};
  metric.margin = 0.5;
  metric.margin_from = "the recipe";
  spec::BaselineEntry entry;
  entry.holds_for.recipe_definition = base::sha256_of("definition");
  entry.holds_for.task = "train";
  entry.holds_for.parameters = {{"epochs", std::int64_t{6}}, {"learning_rate", 0.003}};
  entry.holds_for.data = base::sha256_of("data");
  entry.holds_for.site = "local";
  entry.holds_for.device = "AMD EPYC 7763 64-Core Processor";
  entry.recipe_digest = base::sha256_of("document");
  entry.selection = "recipe=tiny,tag=good";
  entry.sabath_version = "0.1.0";
  entry.runs = {{"tiny-20261120-103205-abcdefgh", "node1", "2026-11-20T10:32:05.123Z", 1},
                {"tiny-20261120-103307-ijklmnop", "node1", "2026-11-20T10:33:07.456Z", 2}};
  entry.facets = {{"code", base::sha256_of("code").text()}, {"environment", "several"}};
  entry.metrics = {metric};
  entry.without = {"accuracy"};
  entry.notes = {"2 run(s) are too few for a prediction interval, which wants 5"};
  entry.accepted = spec::Acceptance{"anna", "2026-11-21T09:00:00.000Z", "first release"};
  return {"tiny",
          {entry},
          {{"train/loss", "the new driver sums otherwise", "2026-12-31", "gpu", "NVIDIA H200"}}};
}

}  // namespace sabath::test
