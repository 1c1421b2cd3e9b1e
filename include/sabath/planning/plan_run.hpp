#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::planning {

/// What another run was of, whose code is this one's too.
struct OriginalCode {
  spec::CodeState state{};
  std::filesystem::path run_directory{};
};

/// What a user asked of one run.
struct RunRequest {
  spec::Recipe recipe{};
  /// What finds the recipe again, from any folder: its name or its path. Empty: its name.
  std::string named{};
  std::map<std::string, std::string> set{};  ///< --set NAME=VALUE, as text
  std::optional<std::uint64_t> seed{};       ///< --seed; else one is drawn from the system
  std::vector<std::string> tags{};
  bool fresh = false;        ///< reuse no cached stage
  std::string only_stage{};  ///< just this stage and what it needs
  std::string task{};        ///< of the recipe; empty: the stages without one
  bool offline = false;      ///< inputs that are not here are an error
  bool elsewhere = false;    ///< a scheduler's nodes execute it: what fits here says nothing
  std::string variant{};     ///< of the environment; empty: the site's choice, else the first
  std::optional<spec::TrustSeen> trusted{};  ///< for RunPlan::trusted
  std::string repeats{};                     ///< the run that this one does again, or empty
  /// Those of the run that this one does again: exactly these bytes. Empty: what the assets are
  /// now.
  std::vector<spec::PlannedInput> inputs{};
  std::optional<OriginalCode> original{};  ///< of that run too
  /// An earlier run of the same submission, planned a moment ago: as long as the recipe's folder is
  /// the same, its archive and what git said are this run's too.
  std::optional<OriginalCode> sibling{};
  /// Of what is written; whoever plans many runs brings them to the disk at once.
  base::Durability durability = base::Durability::durable;
  std::string study_id{};  ///< that the run belongs to, or empty
  std::optional<std::uint64_t> study_point{};
  std::optional<spec::Place> place{};  ///< what the run has to itself
  /// The variables that choose among ways to compute, in place of those of this process that do;
  /// nothing: these.
  std::optional<std::map<std::string, std::string>> knobs{};
  /// Other variables of this process that the run does not inherit. No plan has them or values.
  std::set<std::string> left_out{};
  /// The words of `sabath` that ask for it; empty: those of `run`.
  std::vector<std::string> again{};
  /// Told the run's id before anything of the run can be found, or nothing.
  std::function<void(const std::string& run_id)> announce_id{};
  std::string site{};       ///< whose scheduler executes it; empty: this machine does
  std::string scheduler{};  ///< of that site
  std::string batch{};      ///< folder of its batch, from the run's own; or empty
};

/// The environments of a run, ready on this machine.
struct RunEnvironments {
  spec::BuiltEnvironment own{};
  std::map<std::string, spec::BuiltEnvironment> variants{};  ///< those that stages name
};

/// The stages that a request is for, those that are not due too, in an order that respects their
/// needs. Throws as spec::stages_of_task and spec::ordered_stages.
std::vector<const spec::Stage*> stages_of(const RunRequest& request);
/// Checks the conditions of the request's stages (spec::check_due), and that no tag is a secret.
void check_due(const RunRequest& request);
/// The variants, but for the run's own, that stages of the request which are due name.
std::set<std::string> variants_of(const RunRequest& request);

/// Values for all parameters: the defaults, changed by `set`. All problems at once as Error{usage};
/// an unknown name has the nearest one as hint.
spec::ParameterValues resolve_parameters(const spec::Recipe& recipe,
                                         const std::map<std::string, std::string>& set,
                                         const std::string& named = {});

/// Resolves everything and writes the run directory: an exclusive mkdir of the id, the code,
/// plan.json, status.json, the inbox note. `environments` and `inputs` are ready. Nothing is
/// executed. Throws Error{storage|interrupted}, and then there is no run.
spec::RunPlan plan_run(const RunRequest& request,
                       const RunEnvironments& environments,
                       const std::vector<spec::PlannedInput>& inputs,
                       const home::Folders& folders,
                       base::ProcessRunner& processes,
                       base::Clock& clock,
                       const std::stop_token& stop);

/// Lets a run have this part of a machine: in its plan, its stages' variables and its `launch`
/// facet, which knows only how much it is.
void give_place(const spec::Place& place, spec::RunPlan& plan);

}  // namespace sabath::planning
