#pragma once

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/planning/plan_run.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::planning {

/// What all runs of one request share, ready on this machine.
struct PreparedRecipe {
  RunRequest request{};
  RunEnvironments environments{};
  std::vector<spec::PlannedInput> inputs{};
};

/// Fetches the inputs of a recipe, builds its environments and plans its runs.
class RecipePreparer {
 public:
  struct Tools {
    const home::Documents& documents;
    env::EnvironmentStore& environments;
    cache::Cache& cache;
    const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
    base::ProcessRunner& processes;
    base::Clock& clock;
    /// As in FetchOptions.
    std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
    std::string variant{};  ///< the site's, for recipes that have it
  };
  /// Makes an asset by a run of the recipe that its document names.
  using MakeAsset = std::function<assets::Generated(const spec::Asset& asset,
                                                    bool offline,
                                                    base::Observer& observer,
                                                    const std::stop_token& stop)>;
  RecipePreparer(Tools tools, home::Folders folders, MakeAsset make_asset);

  /// Fetches and builds; parameters and conditions are checked before. `settings` are what the runs
  /// of a study set; empty: there is one run, of `request` as it is.
  PreparedRecipe prepare(const RunRequest& request,
                         base::Observer& observer,
                         std::stop_token stop,
                         const std::set<std::map<std::string, std::string>>& settings = {});
  /// Plans one run of what was prepared; `request` may differ from the prepared one in parameters,
  /// seed and place alone.
  spec::RunPlan plan(const PreparedRecipe& prepared,
                     const RunRequest& request,
                     const std::stop_token& stop);
  /// The plan without running it: nothing is fetched, built or written.
  static spec::RunPlan dry_run(const RunRequest& request);
  /// An asset fetcher that can make generated assets too.
  assets::AssetFetcher fetcher(base::Observer& observer, std::stop_token stop);

  /// What a recipe asks for in all variants: its own environment, else its model's.
  spec::EnvironmentSpec environments_of(const spec::Recipe& recipe) const;
  /// The environment of one variant; empty: the site's choice, else the first. Throws Error{usage}.
  spec::EnvironmentSpec environment_of(const spec::Recipe& recipe,
                                       const std::string& variant = {}) const;

 private:
  spec::BuiltEnvironment ready(const spec::EnvironmentSpec& wanted,
                               const RunRequest& request,
                               base::Observer& observer,
                               const std::stop_token& stop);
  std::string chosen_variant(const spec::EnvironmentSpec& all, const std::string& asked) const;
  std::vector<spec::PlannedInput> fetch_inputs(const RunRequest& request,
                                               base::Observer& observer,
                                               std::stop_token stop);

  Tools tools_;
  home::Folders folders_;
  MakeAsset make_asset_;
};

}  // namespace sabath::planning
