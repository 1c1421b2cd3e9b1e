#pragma once

#include "settings.hpp"
#include "terminal_observer.hpp"

#include <sabath/app/run_recipe.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/batch/scheduler_desk.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/keeping.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/fetch/credential_store.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/fetch/tools.hpp>
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

/// The one place where the parts are put together. Each is made when a command first asks for it,
/// so that `sabath --version` opens nothing.
class Workspace {
 public:
  explicit Workspace(const GlobalOptions& options);

  const GlobalOptions& options() const { return options_; }
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

  /// config.json. Throws Error{usage}.
  const spec::Configuration& configuration();
  /// credentials.json. Throws Error{usage|access}.
  fetch::CredentialStore& credentials();
  home::Documents& documents();
  cache::Cache& cache();
  /// Of the same cache.
  cache::Keeping& keeping();
  std::filesystem::path keeping_root();
  /// From the configuration; SABATH_LOWER_CACHES and SABATH_CACHE_SHARED go before it.
  cache::CacheOptions cache_options();
  env::EnvironmentStore& environments();
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers();
  /// Before the first use of fetchers(): only the one of that name (empty: all), and at most so
  /// many connections to a host (0: as configured).
  void choose_fetchers(std::string name, unsigned connections);
  /// Says whether there is a login for a host: of credentials.json or of the user's .netrc.
  std::function<bool(std::string_view scheme, std::string_view host)> login_lookup();
  /// The catalog, brought up to date from the inbox.
  catalog::Catalog& catalog();
  /// That for the runs that were just made; where it cannot be, the user is told.
  void index_runs();
  /// The same as it is: for `catalog reindex`.
  catalog::Catalog& catalog_as_it_is();
  app::RecipeRunner& runner();
  execution::NodeSettings node_settings();
  /// Whose environments are used, by the configuration.
  const base::Trust& trust();
  /// Those of credentials.json; none, with a warning, where it cannot be read.
  std::vector<std::string> known_secrets();
  /// Files of environments that are not in the cache are an error from now on.
  void stay_offline() { offline_ = true; }
  /// What was put into the inbox since.
  void refresh_catalog();
  const home::Sites& sites();
  /// `sites/<name>.json`. Throws Error{not_found|usage}.
  spec::Site site(const std::string& name);
  /// What is fetched, built and planned from now on is for this site: its cache, its variant.
  void use_site(const std::string& name);
  /// Where its scheduler is asked.
  batch::SchedulerDesk& desk(const spec::Site& site);
  /// The one run that a selection names. Throws Error{usage} when it names several.
  catalog::RunRow one_run(const std::string& selection);

  /// write_answer of text that is safe to show, or of JSON: what a stranger wrote into a record, a
  /// log or a document acts on no terminal.
  bool answer(std::string_view text) const;
  /// Throws Error{usage} where a command that has only text to answer with is asked for --json.
  void refuse_json(const std::string& hint = {}) const;

 private:
  env::BringFiles package_files();
  /// Throws Error{usage} where there is no place for it.
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
  std::unique_ptr<cache::Cache> cache_;
  std::unique_ptr<cache::Keeping> keeping_;
  std::unique_ptr<env::EnvironmentStore> environments_;
  std::unique_ptr<fetch::CredentialStore> credentials_;
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers_;
  std::string chosen_fetcher_{};
  bool offline_ = false;
  std::unique_ptr<catalog::Catalog> catalog_;
  std::vector<std::unique_ptr<launch::Launcher>> launchers_;
  std::unique_ptr<app::RecipeRunner> runner_;
  struct SchedulerAndDesk {
    SchedulerAndDesk(const spec::Site& site, Workspace& workspace);
    launch::Scheduler scheduler;
    batch::SchedulerDesk desk;
  };
  std::map<std::string, std::unique_ptr<SchedulerAndDesk>> desks_;  ///< by site and its `at_once`
  std::optional<home::Sites> sites_;
  std::string variant_{};  ///< of the site in use; empty: the configured one
};

/// Writes bytes to stdout as they are. False: nobody reads it any more (`sabath list runs | head
/// -3`), which is no error. Throws Error{storage} when it fails otherwise (a full disk).
bool write_answer(std::string_view text);

/// Can `name` only be a run: a selection or a whole id? Other words may be documents too.
bool names_a_run(const std::string& name);

}  // namespace sabath::cli
