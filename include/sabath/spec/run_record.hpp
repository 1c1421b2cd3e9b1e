#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_usage.hpp>
#include <sabath/spec/software.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// `unknown`: the scheduler that should execute it does not know it, and its files say nothing of
/// an end. Only ever in the catalog, never in a run's own files. `imported`: brought in from a
/// table; sabath executed nothing.
enum class RunState { planned, running, ok, failed, interrupted, lost, unknown, imported };
std::string_view to_string(RunState state);
std::optional<RunState> parse_run_state(std::string_view text);
inline bool is_final(RunState state) {
  return state != RunState::planned && state != RunState::running && state != RunState::unknown;
}

/// status.json: replaced atomically while the run goes on; the sentinel that tells the truth.
struct RunStatus {
  RunState state = RunState::planned;
  int attempt = 0;
  std::string node{};
  int pid = 0;            ///< of `exec`
  std::string process{};  ///< the same as base::ProcessIdentity::text
  std::string stage{};    ///< that runs now, or ran last
  std::string updated{};
  std::string message{};          ///< why it failed, in one line
  std::optional<JobStart> job{};  ///< of a scheduler, that executes it or did last

  bool operator==(const RunStatus&) const = default;
};

nlohmann::ordered_json to_json(const RunStatus& status);
RunStatus parse_run_status(std::string_view text, const std::string& origin);

/// A named part of a record that is digested on its own. `items` is the preimage, so that a
/// difference can be told in words.
struct Facet {
  std::string name{};  ///< code, data, environment, parameters, seed, host, launch
  std::map<std::string, std::string> items{};

  bool operator==(const Facet&) const = default;
  base::Digest digest() const;  ///< sha256 of the canonical JSON of `items`
};

struct OutputRecord {
  std::string stage{};
  std::string path{};  ///< as declared
  std::uint64_t size_bytes = 0;
  base::Digest digest{};
  /// "cache": an object of the cache has the same bytes; else why it was only hashed. Nothing: of
  /// an earlier sabath.
  std::optional<std::string> kept{};
  /// Of the file with the digests of its arrays' values, chunk by chunk; nothing: there is none.
  std::optional<base::Digest> trees{};
  /// What it was when its stage had ended, where a later stage of the run changed it: `digest` is
  /// then what it was when the run ended.
  std::optional<base::Digest> as_made{};

  /// Changed by the run itself, with nothing known of what it became: in records of earlier
  /// versions, and of runs that were interrupted.
  bool is_outdated() const;

  bool operator==(const OutputRecord&) const = default;
};

/// A try of a stage that failed and was followed by another.
struct StageTry {
  std::string started{};
  double wall_s = 0;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string message{};  ///< how it ended
  std::string reason{};   ///< what the recipe names for which it was tried again

  bool operator==(const StageTry&) const = default;
};

struct StageRecord {
  std::string name{};
  std::string state{};  ///< "ok", "failed", "interrupted", "skipped" (one that it needs failed, or
                        ///< the run was interrupted), "reused" (from the cache), "not_due"
  std::vector<std::string> argv{};
  std::string started{};
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t max_rss_bytes = 0;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string message{};   ///< how it ended, where it did not end well; why it did not run
  std::string log_tail{};  ///< last lines of its error output, where it did not end well
  std::string cache_key{};
  std::string made_by_run{};  ///< for "reused": the run and host that made the outputs
  std::string made_on_host{};
  int leftovers = 0;  ///< processes it left behind, that were ended
  std::uint64_t bad_metric_lines = 0;
  std::optional<std::vector<int>> cpus{};  ///< that it was bound to; nothing: to no fewer than the
                                           ///< run, with no stage beside it
  std::optional<std::vector<std::string>> gpus{};    ///< that it had to itself
  std::optional<std::vector<StageTry>> tries{};      ///< before the one that the rest tells of
  std::optional<std::string> variant{};              ///< as in PlannedStage
  std::optional<std::vector<std::string>> prefix{};  ///< what started its ranks; nothing: it is one
  std::optional<std::string> not_reusable{};         ///< why a cached stage was not kept for reuse
  /// That it went on from: their metrics are its own, too, but not their time.
  std::optional<int> earlier_attempts{};

  bool operator==(const StageRecord&) const = default;
};

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

/// "<recipe>-<YYYYMMDD>-<hhmmss>-<8 letters>"
bool is_run_id(std::string_view text);

}  // namespace sabath::spec
