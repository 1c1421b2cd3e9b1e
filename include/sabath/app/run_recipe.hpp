#pragma once

#include <sabath/execution/run_in_flight.hpp>
#include <sabath/launch/launcher.hpp>
#include <sabath/planning/recipe_preparer.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// From a recipe to finished runs: environment, inputs, plan, launch, wait.
class RecipeRunner {
 public:
  /// `program` executes a plan on a node: this sabath.
  RecipeRunner(const planning::RecipePreparer::Tools& tools,
               launch::Launcher& launcher,
               home::Folders folders,
               std::filesystem::path program);
  ~RecipeRunner() = default;
  RecipeRunner(const RecipeRunner&) = delete;
  RecipeRunner& operator=(const RecipeRunner&) = delete;

  planning::RecipePreparer& preparer() { return preparer_; }

  /// Starts what was planned, with the variables of `placement`.
  execution::RunInFlight launch(const spec::RunPlan& plan,
                                const planning::Placement& placement = {});
  /// Follows a run that another process started, as process `job` of this node.
  execution::RunInFlight follow(const std::filesystem::path& run_directory,
                                const launch::JobId& job) {
    return {launcher_, job, run_directory};
  }
  /// Prepares, plans and launches one run, and waits until it is over.
  execution::RunOutcome run(const planning::RunRequest& request,
                            base::Observer& observer,
                            std::stop_token stop);

 private:
  assets::Generated generate(const spec::Asset& asset,
                             bool offline,
                             base::Observer& observer,
                             const std::stop_token& stop);

  planning::RecipePreparer::Tools tools_;
  launch::Launcher& launcher_;
  home::Folders folders_;
  std::filesystem::path program_;
  planning::RecipePreparer preparer_;
  std::vector<std::string>
      generating_{};  ///< assets being made, outermost first: a repetition is a cycle
};

}  // namespace sabath::app
