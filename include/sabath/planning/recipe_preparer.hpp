#pragma once

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/planning/plan_run.hpp>

#include <filesystem>
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
  /// Values of the parameters, by the settings of each run.
  std::map<std::map<std::string, std::string>, spec::ParameterValues> parameters{};
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
    /// Made when a data set is fetched: a run without one reads no descriptions of tools.
    std::function<const std::vector<std::unique_ptr<fetch::Fetcher>>&()> fetchers;
    base::ProcessRunner& processes;
    base::Clock& clock;
    /// As in FetchOptions.
    std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
    std::string variant{};  ///< of the site, for recipes that have it
  };
  /// Makes an asset by a run of the recipe that its document names.
  using MakeAsset = std::function<assets::Generated(const spec::Asset& asset,
                                                    bool offline,
                                                    base::Observer& observer,
                                                    const std::stop_token& stop)>;
  RecipePreparer(Tools tools, home::Folders folders, MakeAsset make_asset);

  /// Fetches and builds, after checks of parameters and conditions. `settings` are those of a
  /// study's runs; empty: there is one run, of `request` itself.
  PreparedRecipe prepare(const RunRequest& request,
                         base::Observer& observer,
                         std::stop_token stop,
                         const std::set<std::map<std::string, std::string>>& settings = {});
  /// Plans one run of what was prepared. `request` may differ from the prepared one in parameters,
  /// seed and placement alone.
  spec::RunPlan plan(const PreparedRecipe& prepared,
                     const RunRequest& request,
                     const std::stop_token& stop);
  /// Returns the plan without running it, after the same checks. Fetches, builds and writes
  /// nothing.
  static spec::RunPlan dry_run(const RunRequest& request);
  /// Returns an asset fetcher that can also make generated assets.
  assets::AssetFetcher fetcher(base::Observer& observer, std::stop_token stop);

  /// Returns what a recipe asks for in all variants: its own environment, else its model's.
  spec::EnvironmentSpec environments_of(const spec::Recipe& recipe) const;
  /// Returns the environment of one variant; empty: the site's choice, else the first. Throws
  /// Error{usage}.
  spec::EnvironmentSpec environment_of(const spec::Recipe& recipe,
                                       const std::string& variant = {}) const;

 private:
  spec::BuiltEnvironment ready(const spec::EnvironmentSpec& wanted,
                               const RunRequest& request,
                               base::Observer& observer,
                               const std::stop_token& stop);
  std::string chosen_variant(const spec::EnvironmentSpec& all, const std::string& asked) const;
  /// `wanted`: roles with an asset of each.
  std::vector<spec::PlannedInput> fetch_inputs(
      const RunRequest& request,
      const std::set<std::pair<std::string, std::string>>& wanted,
      base::Observer& observer,
      std::stop_token stop);

  Tools tools_;
  home::Folders folders_;
  MakeAsset make_asset_;
};

/// Writes what is ready, for another process that plans the runs. Throws Error{storage}.
void write_prepared(const std::filesystem::path& file, const PreparedRecipe& prepared);

/// Reads it for `request`. Throws Error{not_found|usage}.
PreparedRecipe read_prepared(const std::filesystem::path& file, const RunRequest& request);

/// Writes, beside `file`, why nothing is ready. Ignores failures.
void write_unprepared(const std::filesystem::path& file, const base::Error& error) noexcept;

/// Returns the path of that file.
std::filesystem::path unprepared(const std::filesystem::path& file);

/// Returns the error of that file, with `place` before it. Throws Error{usage} for another file.
base::Error read_unprepared(const std::filesystem::path& file, const std::string& place);

}  // namespace sabath::planning
