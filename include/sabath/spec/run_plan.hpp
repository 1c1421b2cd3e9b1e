#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/code_state.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/parameter.hpp>
#include <sabath/spec/recipe.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// A data set as a plan refers to it: by digest, and where it lies on this machine.
struct PlannedInput {
  std::string role{};
  std::string asset{};
  std::string version{};
  base::Digest digest{};  ///< of the asset's manifest
  std::string path{};
  std::string copy{};  ///< where it lies on this node's own disk, too; no part of plan.json

  bool operator==(const PlannedInput&) const = default;
};

/// Where a run's seed came from: "option" (--seed), "drawn" (from the system), "none" (the recipe
/// has no use for one).
struct Seed {
  std::optional<std::uint64_t> value{};
  std::string origin = "none";

  bool operator==(const Seed&) const = default;
};

struct PlannedStage {
  std::string name{};
  std::vector<std::string> needs{};
  bool cache = false;
  std::vector<std::string> argv{};           ///< resolved
  std::vector<std::string> argv_template{};  ///< as in the recipe: part of a cached stage's key
  std::vector<std::string> outputs{};
  Resources resources{};
  std::string code_copy_from{};  ///< folder to copy into the work folder first, or empty
  std::map<std::string, std::string>
      environment{};  ///< what sabath sets for it, beyond the caller's
  /// What a cached stage's key is made of, apart from the outputs of the stages it needs; empty if
  /// not cached.
  std::map<std::string, std::string> key_items{};
  std::optional<Retry> retry{};
  std::optional<std::string> variant{};   ///< of the environment, where it is not the run's
  std::optional<std::string> not_due{};   ///< why it is not to be executed: then it has no `argv`
  std::optional<std::string> parallel{};  ///< as in Stage; nothing: it is not
  std::optional<bool> checkpoint{};       ///< as in Stage; nothing: it does not
  /// Files that its working folder gets first: name -> text.
  std::optional<std::map<std::string, std::string>> files{};

  bool operator==(const PlannedStage&) const = default;
};

/// When the environment's files were seen to be nobody else's to change.
struct TrustSeen {
  std::string boot{};  ///< probe::boot_id
  double uptime_s = 0;

  bool operator==(const TrustSeen&) const = default;
};

/// The part of a machine that a run has for itself, among those that run at the same time.
struct ResourceSlots {
  std::vector<int> cpus{};          ///< hardware threads by the kernel's numbers; empty: not bound
  std::vector<std::string> gpus{};  ///< as in CUDA_VISIBLE_DEVICES; empty: unchanged

  bool operator==(const ResourceSlots&) const = default;
};

/// Everything resolved: `sabath exec` needs nothing but this, the run directory and the cache.
struct RunPlan {
  std::string run_id{};
  std::string study_id{};
  std::optional<std::uint64_t> study_point{};  ///< which of the study's points it is, from 0
  std::optional<ResourceSlots> slots{};
  std::string created{};  ///< RFC 3339
  std::string sabath_version{};
  std::string recipe_text{};  ///< the recipe document as it was
  std::string recipe_directory{};
  ParameterValues parameters{};
  Seed seed{};
  std::vector<std::string> tags{};
  std::vector<PlannedInput> inputs{};
  BuiltEnvironment environment{};
  /// Those that stages name, but for the run's own; nothing: none does.
  std::optional<std::map<std::string, BuiltEnvironment>> variants{};
  std::vector<PlannedStage> stages{};         ///< in an order that respects needs
  std::map<std::string, std::string> code{};  ///< items of the `code` facet
  std::map<std::string, std::string>
      launch{};  ///< items of the `launch` facet: "launcher" -> "local" ...
  std::string cache_directory{};
  std::string state_directory{};  ///< the user's own: host facts per boot, digests memo
  bool fresh = false;             ///< reuse no cached stage
  std::string reproduce{};        ///< the command that repeats the run
  std::string only_stage{};  ///< made for `generate`: just this stage and its needs; else empty
  std::optional<CodeState> code_state{};  ///< nothing: of an earlier sabath, as with `variant`
  std::optional<std::string> variant{};   ///< of the environment; nothing: it has none
  std::optional<std::string> repeats{};   ///< the run that this one does again
  std::optional<TrustSeen> trusted{};     ///< nothing: `exec` must look
  std::optional<std::string> task{};      ///< whose stages run; nothing: of those without one

  /// The folder of the batch that a scheduler executes it in, from the run's own. Nothing: it is
  /// executed on the machine that planned it.
  std::optional<std::string> batch{};
  /// Run whose recipe and lock gave the environment, as `explain` mixes them; nothing: the own.
  std::optional<std::string> environment_from{};
  /// Run, copied to `reference`, from which this one must not diverge; nothing: none.
  std::optional<std::string> stop_when_diverged{};

  bool operator==(const RunPlan&) const = default;
  /// What a stage runs in.
  const BuiltEnvironment& environment_of(const PlannedStage& stage) const;
  /// Of all stages; the run's own first.
  std::vector<BuiltEnvironment> environments() const;
};

nlohmann::ordered_json to_json(const RunPlan& plan);
RunPlan parse_run_plan(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
