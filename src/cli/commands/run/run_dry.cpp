#include "run.hpp"

#include <sabath/analysis/study_power.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/submit_runs.hpp>
#include <sabath/live/dry_run_text.hpp>
#include <sabath/live/study_text.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <optional>

namespace sabath::cli {
namespace {

/// Of the runs that there are; none where there never was one, since nothing is to be made.
analysis::StudyPower power_of(const planning::RunRequest& request,
                              const std::vector<spec::StudyPoint>& points,
                              Workspace& workspace) {
  std::error_code code;
  const bool has_runs = std::filesystem::exists(workspace.folders().runs(), code);
  return analysis::study_power(
      request.recipe, points, has_runs ? &workspace.catalog() : nullptr, workspace.clock().now());
}

}  // namespace

void note_power(const planning::RunRequest& request,
                const std::vector<spec::StudyPoint>& points,
                Workspace& workspace) {
  workspace.observer().note(live::short_power_text(power_of(request, points, workspace)) +
                            " (--dry-run says more)");
}

int show_dry_run(const RunOptions& options,
                 const planning::RunRequest& request,
                 const std::vector<spec::StudyPoint>& points,
                 Workspace& workspace) {
  std::optional<spec::Site> site;
  if (!options.on.empty()) site = workspace.site(options.on);
  const std::vector<spec::BatchStep> steps = check_jobs(options, request, points, workspace);
  planning::RunRequest first = request;
  first.set = points.front().set;
  first.seed = points.front().seed;
  planning::RunRequest one = request;
  for (const auto& set : planning::settings_of(points)) {
    one.set = set;
    const spec::RunPlan planned = planning::RecipePreparer::dry_run(one);
    for (const auto& [role, asset] : one.recipe.datasets_for(planned.parameters))
      workspace.documents().asset(asset);
  }
  const spec::RunPlan plan = planning::RecipePreparer::dry_run(first);
  std::optional<analysis::StudyPower> power;
  if (asks_for_study(options)) power = power_of(request, points, workspace);
  if (workspace.json()) {
    workspace.answer(live::json_dry_run(plan, points, power));
    return exit_done;
  }
  const std::vector<std::string> varied = planning::varied_parameters(points);
  std::string text = std::to_string(points.size()) + " run(s) of " + request.recipe.name +
                     (request.task.empty() ? "" : ", task " + request.task) + "\n";
  for (const auto& [name, value] : plan.parameters) {
    if (std::ranges::find(varied, name) != varied.end()) continue;
    text += "  " + name + " = " + base::printable(spec::shown_text(spec::to_string(value))) + "\n";
  }
  text += live::seeds_text(points);
  for (const spec::PlannedStage& stage : plan.stages) {
    text += "stage " + stage.name + (stage.cache ? " (cached)" : "") +
            (stage.variant ? " in variant " + *stage.variant : "") + "\n  " +
            base::printable(stage.not_due ? "not due: " + *stage.not_due
                                          : base::shown_command(stage.argv)) +
            "\n";
  }
  if (site) text += live::jobs_text(steps, *site);
  if (power) text += live::points_text(points) + live::power_text(*power);
  workspace.answer(text);
  return exit_done;
}

}  // namespace sabath::cli
