#pragma once

#include "fetch_services.hpp"
#include "settings.hpp"
#include "terminal_observer.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/cache_maintenance.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/home/sites.hpp>
#include <sabath/launch/launcher.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cli {

/// A private folder of one command in the home, made when it is first needed.
class UnpackingFolder {
 public:
  UnpackingFolder() = default;
  ~UnpackingFolder();
  UnpackingFolder(const UnpackingFolder&) = delete;
  UnpackingFolder& operator=(const UnpackingFolder&) = delete;

  const std::filesystem::path& in(const home::Folders& folders);

 private:
  std::filesystem::path path_{};
};

/// The one place where the parts are put together. Each is made when a command first asks for it,
/// so that `sabath --version` opens nothing.
class Workspace {
 public:
  explicit Workspace(const GlobalOptions& options);

  bool json() const { return options_.json; }
  const home::Folders& folders();
  base::Observer& observer() { return observer_; }
  base::Clock& clock() { return clock_; }
  base::ProcessRunner& processes() { return processes_; }
  /// Who asks for it ends soon after a signal. Until somebody has, a signal ends the command.
  std::stop_token stop() {
    stop_.set_heeded(true);
    return stop_.token();
  }
  /// From now on a signal ends the command where it is: what follows only reads, and may take long.
  void end_at_signal() { stop_.set_heeded(false); }
  /// Before a signal does so this folder is removed.
  void remove_at_signal(const std::filesystem::path& folder) {
    stop_.set_last([folder] { base::remove_tree(folder); });
  }

  /// A private folder for what this command unpacks from archives. Removed at its end.
  const std::filesystem::path& unpacking_folder() { return unpacked_.in(folders()); }

  /// config.json. Throws Error{usage}.
  const spec::Configuration& configuration();
  home::Documents& documents();
  /// A folder whose assets go before all others, from now on. Before `runner` is asked for.
  void prefer_assets(const std::filesystem::path& folder);
  cache::Cache& cache();
  /// Of the same cache.
  cache::CacheMaintenance& maintenance();
  cache::Inventory inventory() { return maintenance().inventory(observer_, stop()); }
  /// From the configuration; SABATH_LOWER_CACHES and SABATH_CACHE_SHARED go before it.
  cache::CacheOptions cache_options();
  env::EnvironmentStore& environments();
  FetchServices& fetching();
  /// The catalog, brought up to date from the inbox.
  catalog::Catalog& catalog();
  /// Brings the catalog up to date for the runs that were just made; warns where it cannot.
  void index_runs();
  /// The catalog without an update: for `catalog reindex`.
  catalog::Catalog& catalog_as_it_is();
  app::RecipeRunner& runner();
  execution::NodeSettings node_settings();
  /// Whose environments are used, by the configuration.
  const base::Trust& trust();
  /// Those of credentials.json; none, with a warning, where it cannot be read.
  std::vector<std::string> known_secrets() {
    return read_known_secrets(configuration_folder(), observer_);
  }
  /// Files of environments that are not in the cache are an error from now on.
  void stay_offline() { offline_ = true; }
  void refresh_catalog();  ///< with what was put into the inbox since
  /// Fires hooks for what was seen of a run.
  app::OnNews on_news();
  const home::Sites& sites();
  /// `sites/<name>.json`. Throws Error{not_found|usage}.
  spec::Site site(const std::string& name);
  /// What is fetched, built and planned from now on is for this site: its cache, its variant.
  void use_site(const std::string& name);
  /// Where its scheduler is asked.
  batch::SchedulerMonitor& monitor(const spec::Site& site);

  /// write_answer of text that is safe to show, or of JSON: what a stranger wrote into a record, a
  /// log or a document acts on no terminal.
  bool answer(std::string_view text) const;
  /// Throws Error{usage} where a command that has only text to answer with is asked for --json.
  void refuse_json(const std::string& hint = {}) const;

 private:
  env::BringFiles package_files();
  /// Throws Error{usage} where none is known.
  const std::filesystem::path& configuration_folder();

  GlobalOptions options_;
  base::SystemClock clock_;
  base::SystemProcessRunner processes_;
  base::StopSignal stop_;
  TerminalObserver observer_;
  std::optional<home::Folders> folders_;
  std::optional<spec::Configuration> configuration_;
  std::optional<base::Trust> trust_;
  std::optional<home::Documents> documents_;
  std::optional<cache::Cache> cache_;
  std::optional<cache::CacheMaintenance> maintenance_;
  std::optional<env::EnvironmentStore> environments_;
  std::optional<FetchServices> fetching_;
  bool offline_ = false;
  std::unique_ptr<catalog::Catalog> catalog_;
  std::unique_ptr<launch::Launcher> launcher_;
  std::optional<app::RecipeRunner> runner_;
  struct Monitored {
    Monitored(const spec::Site& site, Workspace& workspace);
    launch::Scheduler scheduler;
    batch::SchedulerMonitor monitor;
  };
  std::map<std::string, std::unique_ptr<Monitored>> monitors_;  ///< by site and its `at_once`
  std::optional<home::Sites> sites_;
  std::string variant_{};  ///< of the site in use; empty: the configured one
  UnpackingFolder unpacked_{};
};

/// Writes bytes to stdout as they are. False: nobody reads it any more (`sabath list runs | head
/// -3`), which is not an error. Throws Error{storage} when it fails otherwise (a full disk).
bool write_answer(std::string_view text);

}  // namespace sabath::cli
