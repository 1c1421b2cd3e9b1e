#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/planning/run_request.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::planning {

/// Environments of a run, ready on this machine.
struct RunEnvironments {
  spec::BuiltEnvironment own{};
  std::map<std::string, spec::BuiltEnvironment> variants{};  ///< those that stages name
  std::optional<spec::TrustSeen> trusted{};                  ///< for RunPlan::trusted
};

/// Returns the stages of a request, including stages that are not due, in an order that respects
/// their needs. Throws as spec::stages_of_task and spec::ordered_stages.
std::vector<const spec::Stage*> stages_of(const RunRequest& request);
/// Checks the conditions of the request's stages (spec::check_due), and that no tag is a secret.
void check_due(const RunRequest& request, const spec::ParameterValues& parameters);
/// Returns the variants, except the run's own, that due stages of the request name.
std::set<std::string> variants_of(const RunRequest& request,
                                  const spec::ParameterValues& parameters);

/// Returns values for all parameters: the defaults, changed by `set`. Throws Error{usage} with all
/// problems at once; the hint for an unknown name is the nearest one.
spec::ParameterValues resolve_parameters(const spec::Recipe& recipe,
                                         const std::map<std::string, std::string>& set,
                                         const std::string& named = {});

struct PlanTools {
  const home::Folders& folders;
  base::ProcessRunner& processes;
  base::Clock& clock;
};

/// Resolves the stages, draws a seed where the request has none, and writes the run directory: an
/// exclusive mkdir of the id, the code, plan.json, status.json, the inbox note. `environments` and
/// `inputs` are ready. Executes nothing. Throws Error{storage|interrupted}, and then leaves no run.
spec::RunPlan plan_run(const RunRequest& request,
                       const spec::ParameterValues& parameters,
                       const RunEnvironments& environments,
                       const std::vector<spec::PlannedInput>& inputs,
                       const PlanTools& tools,
                       const std::stop_token& stop);

/// Gives a run this part of a machine: in its plan, its stages' variables and its `launch` facet,
/// which has only the amount.
void assign_slots(const spec::ResourceSlots& slots, spec::RunPlan& plan);

/// Returns this boot, and its age.
spec::TrustSeen trust_seen_now();

/// Returns true where `seen` was a moment before `now`, on this node. A check of all files of an
/// environment takes longer than a short run: `exec` need not repeat what a planner has just done.
bool is_recent(const std::optional<spec::TrustSeen>& seen, const spec::TrustSeen& now);

/// Returns the variables of the session that a repetition must set, as "env", "NAME=VALUE" ...;
/// empty without tuning variables. Leaves out secrets, and what the recipe sets for every stage.
std::vector<std::string> session_words(const RunRequest& request);

/// Returns a sentence for each variable of the session whose other value the recipe replaces for
/// every stage.
std::vector<std::string> replaced_variables(const RunRequest& request);

/// Returns "sabath" with each further folder that was searched for documents.
std::vector<std::string> program_words(const home::Folders& folders);

/// Returns the command that repeats a run that is planned so, for a shell. It has the run's
/// variables, all of `sabath run` that decides its result, and how many CPUs and GPUs it was bound
/// to, by --jobs or by its caller.
std::string again_command(const RunRequest& request,
                          const spec::RunPlan& plan,
                          const home::Folders& folders);

/// Returns the part of this machine that `sabath run --cpus --gpus` binds a run to. Throws
/// Error{usage} where there is too little.
spec::ResourceSlots slots_of(int cpus, int gpus, base::ProcessRunner& processes);

}  // namespace sabath::planning
