#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_state.hpp>
#include <sabath/spec/run_status.hpp>
#include <sabath/spec/run_usage.hpp>
#include <sabath/spec/software.hpp>
#include <sabath/spec/stage_record.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// record.json: written last, atomically; never changed again.
struct RunRecord {
  std::string run_id{};
  std::string study_id{};
  std::string sabath_version{};
  RunState state = RunState::ok;
  std::string message{};
  std::string created{};
  std::string started{};
  std::string ended{};
  double wall_s = 0;
  std::string user{};
  std::string recipe_name{};
  base::Digest recipe_digest{};
  base::Digest recipe_definition{};
  std::string recipe_text{};
  std::string model{};
  ParameterValues parameters{};
  std::vector<std::string>
      execution_parameters{};  ///< names of those that only affect the execution
  Seed seed{};
  bool deterministic = false;
  std::optional<Rung> require{};
  std::vector<std::string> tags{};
  std::vector<PlannedInput> inputs{};
  BuiltEnvironment environment{};
  std::optional<std::map<std::string, BuiltEnvironment>> variants{};  ///< as in RunPlan
  std::map<std::string, std::string>
      variables{};  ///< environment variables that matter, secrets redacted
  std::vector<StageRecord> stages{};
  std::vector<OutputRecord> outputs{};
  std::vector<MetricSummary> metrics{};
  std::optional<Collected> collected{};  ///< beside the metrics, if there was anything
  std::vector<HostFacts> hosts{};
  UsageSummary usage{};
  std::string energy{};  ///< joules with the method, or the reason why there are none
  std::vector<Facet> facets{};
  std::string only_stage{};
  std::string reproduce{};
  std::optional<CodeState> code_state{};  ///< this and the next two: as in RunPlan
  std::optional<std::string> variant{};
  std::optional<std::string> repeats{};
  std::optional<std::vector<EnergyReading>> energy_readings{};  ///< behind `energy`
  std::optional<Software> software{};
  std::optional<Determinism> determinism{};
  std::optional<std::string> task{};      ///< as in RunPlan
  std::optional<std::uint64_t> masked{};  ///< known secrets that were masked in the code's output
  std::optional<std::vector<JobFacts>> jobs{};  ///< of a scheduler; nothing: none
  /// Before the one that the rest tells of; nothing: there was none.
  std::optional<std::vector<AttemptRecord>> attempts{};

  bool operator==(const RunRecord&) const = default;
  const Facet* facet(std::string_view name) const;
};

nlohmann::ordered_json to_json(const RunRecord& record);
RunRecord parse_run_record(std::string_view text, const std::string& origin);

/// Of a record what an index wants, in a fraction of the time: who, when, how it ended, parameters,
/// inputs, environment, hosts, outputs, metrics and facets. Also what the run repeats, and the
/// command that repeats it. All else is as in an empty record, and not checked. Throws
/// Error{usage}.
RunRecord parse_run_summary(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
