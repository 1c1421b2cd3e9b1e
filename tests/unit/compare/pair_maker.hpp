#pragma once

#include "memory_source.hpp"

#include <sabath/base/series_sink.hpp>
#include <sabath/compare/compare_runs.hpp>
#include <sabath/spec/run_record.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sabath::test {

/// One run of a small recipe, with its parts open to change before it is compared.
struct Run {
  spec::RunRecord record{};
  std::vector<spec::Series> series{};
  std::map<std::string, compare::OutputSide> outputs{};
  std::map<std::string, std::string> around{};

  explicit Run(const std::string& id = "toy-1") {
    record.run_id = id;
    record.recipe_name = "toy";
    record.recipe_definition = base::Digest{base::DigestAlgorithm::sha256, "aa"};
    record.user = "ada";
    record.execution_parameters = {"threads", "reduction"};
    record.deterministic = true;
    for (const char* stage : {"simulate", "train"}) {
      record.stages.emplace_back();
      record.stages.back().name = stage;
    }
    record.facets = {{"code", {{"commit", "c0ffee"}}},
                     {"data", {{"train", "digits 1 sha256:aa"}}},
                     {"environment", {{"code.key", "e1"}}},
                     {"parameters", {{"learning_rate", "0.003"}, {"threads", "1"}}},
                     {"seed", {{"seed", "1"}}},
                     {"host", {{"cpu.model", "K6"}}},
                     {"launch", {{"launcher", "local"}}}};
  }

  std::map<std::string, std::string>& facet(const std::string& name) {
    for (spec::Facet& facet : record.facets) {
      if (facet.name == name) return facet.items;
    }
    record.facets.push_back({name, {}});
    return record.facets.back().items;
  }

  /// A series with steps 1, 2, ... and ten steps an epoch.
  Run& report(const std::string& stream,
              const std::string& name,
              const std::vector<double>& values) {
    spec::Series made;
    made.stream = stream;
    made.name = name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      made.rank.push_back(0);
      made.step.push_back(static_cast<std::int64_t>(i) + 1);
      made.epoch.push_back(static_cast<std::int64_t>(i / 10) + 1);
      made.value.push_back(values[i]);
      made.time_s.push_back(0);
    }
    series.push_back(std::move(made));
    return *this;
  }

  /// An output whose content can be read; `digest` stands for its bytes.
  Run& output(const std::string& stage,
              const std::string& path,
              const std::string& digest,
              std::shared_ptr<Container> content = nullptr) {
    record.outputs.push_back({stage, path, 100, {base::DigestAlgorithm::sha256, digest}});
    compare::OutputSide side{record.outputs.back().digest, 100, {}};
    if (content)
      side.open = [content](const spec::OutputRule&) {
        return std::make_unique<MemorySource>(content);
      };
    outputs[stage + "/" + path] = side;
    return *this;
  }

  compare::Side side() const { return {record, series, outputs, around}; }
};

inline spec::MetricSpec metric(const std::string& name, spec::Tolerance tolerance = {}) {
  spec::MetricSpec made;
  made.name = name;
  made.tolerance = tolerance;
  return made;
}

inline compare::Rules judging(const std::vector<std::string>& names) {
  compare::Rules rules;
  for (const std::string& name : names)
    rules.metrics.push_back(metric(name));
  return rules;
}

inline spec::Comparison compare_two(const Run& a,
                                    const Run& b,
                                    const compare::Rules& rules,
                                    const compare::Options& options = {}) {
  return compare::compare_runs(a.side(), b.side(), rules, options);
}

}  // namespace sabath::test
