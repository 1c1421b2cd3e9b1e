#pragma once

#include <sabath/app/documents.hpp>
#include <sabath/app/fetch_assets.hpp>
#include <sabath/app/folders.hpp>
#include <sabath/app/plan_run.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// How one run ended.
struct RunOutcome {
  std::string run_id{};
  std::filesystem::path directory{};
  spec::RunState state = spec::RunState::planned;
  std::string message{};
};

/// From a recipe to finished runs: environment, inputs, plan, launch, wait.
class RecipeRunner {
 public:
  /// `program` is what executes a plan on a node: this sabath.
  struct Tools {
    const Documents& documents;
    env::EnvironmentStore& environments;
    cache::Cache& cache;
    const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
    launch::Launcher& launcher;
    base::ProcessRunner& processes;
    base::Clock& clock;
    /// As in FetchOptions.
    std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
    std::string variant{};  ///< the site's, for recipes that have it
  };
  RecipeRunner(Tools tools, Folders folders, std::filesystem::path program);

  /// Prepares once (parameters are checked before anything is fetched or built), then runs `repeat`
  /// times, one after the other. Each outcome is told to `observer` as it comes. After a stop the
  /// runs until then are returned.
  std::vector<RunOutcome> run(const RunRequest& request,
                              int repeat,
                              base::Observer& observer,
                              std::stop_token stop);
  /// The plan without running it: nothing is fetched, built or written.
  static spec::RunPlan dry_run(const RunRequest& request);
  /// An asset fetcher that can make generated assets too.
  AssetFetcher fetcher(base::Observer& observer, std::stop_token stop);

  /// What a recipe asks for in all variants: its own environment, else its model's.
  spec::EnvironmentSpec environments_of(const spec::Recipe& recipe) const;
  /// The environment of one variant; empty: the site's choice, else the first. Throws Error{usage}.
  spec::EnvironmentSpec environment_of(const spec::Recipe& recipe,
                                       const std::string& variant = {}) const;

 private:
  std::string chosen_variant(const spec::EnvironmentSpec& all, const std::string& asked) const;
  std::vector<spec::PlannedInput> fetch_inputs(const RunRequest& request,
                                               base::Observer& observer,
                                               std::stop_token stop);
  Generated generate(const spec::Asset& asset,
                     bool offline,
                     base::Observer& observer,
                     std::stop_token stop);
  RunOutcome launch_and_wait(const spec::RunPlan& plan,
                             base::Observer& observer,
                             std::stop_token stop);

  Tools tools_;
  Folders folders_;
  std::filesystem::path program_;
  std::vector<std::string>
      generating_{};  ///< assets being made, outermost first: a repetition is a cycle
};

}  // namespace sabath::app
