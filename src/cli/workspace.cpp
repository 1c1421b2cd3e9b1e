#include "workspace.hpp"

#include "log.hpp"
#include "option_parser.hpp"
#include "workspace_hooks.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/assets/fetch_packages.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/fetch/tools.hpp>
#include <sabath/home/run_archive.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace sabath::cli {

using base::Error;

Workspace::Workspace(const GlobalOptions& options)
    : options_(options), observer_(options.quiet, clock_) {
  end_at_signal();
}

UnpackingFolder::~UnpackingFolder() {
  if (!path_.empty()) base::remove_tree(path_);
}

const std::filesystem::path& UnpackingFolder::in(const home::Folders& folders) {
  if (path_.empty()) path_ = home::make_unpacking_folder(folders);
  return path_;
}

void Workspace::refuse_json(const std::string& hint) const {
  if (!options_.json) return;
  throw usage_error("--json: '" + options_.command + "' has only text to answer", hint);
}

const home::Folders& Workspace::folders() {
  if (!folders_) {
    folders_ = read_folders(base::current_environment(), options_.catalogs, program_path());
    open_log(folders_->state());
    log_event("command", options_.command);
  }
  return *folders_;
}

const std::filesystem::path& Workspace::configuration_folder() {
  if (folders().configuration.empty()) {
    throw usage_error("HOME: not set, so the configuration has no place", "set SABATH_CONFIG");
  }
  return folders().configuration;
}

const spec::Configuration& Workspace::configuration() {
  if (!configuration_) configuration_ = read_configuration(configuration_folder());
  return *configuration_;
}

void Workspace::prefer_assets(const std::filesystem::path& folder) {
  folders();
  folders_->assets.insert(folders_->assets.begin(), folder);
  documents_.reset();
}

home::Documents& Workspace::documents() {
  if (!documents_) documents_.emplace(folders().assets, folders().recipes);
  return *documents_;
}

cache::Cache& Workspace::cache() {
  if (!cache_) cache_.emplace(folders().cache, folders().state(), clock_, cache_options());
  return *cache_;
}

cache::CacheMaintenance& Workspace::maintenance() {
  if (!maintenance_)
    maintenance_.emplace(folders().cache, folders().state(), clock_, cache_options());
  return *maintenance_;
}

cache::CacheOptions Workspace::cache_options() {
  cache::CacheOptions options =
      read_cache_options(base::current_environment(), configuration().cache);
  options.trust = trust();
  return options;
}

execution::NodeSettings Workspace::node_settings() {
  const spec::EnvironmentSettings& settings = configuration().environments;
  execution::NodeSettings node{cache_options(),
                               settings.packed,
                               settings.local,
                               program_path(),
                               known_secrets(),
                               configuration().cache.largest_output,
                               configuration().runs.largest_log};
  node.hooks = fetching().hooks();
  node.trust = trust();
  return node;
}

const base::Trust& Workspace::trust() {
  if (!trust_)
    trust_ =
        read_trust(configuration().environments, configuration_folder() / "config.json", observer_);
  return *trust_;
}

env::EnvironmentStore& Workspace::environments() {
  if (!environments_) {
    env::StoreOptions options;
    options.state_directory = folders().state();
    options.trust = trust();
    for (const auto& cache : cache_options().lower)
      options.lower.push_back(home::Folders{.cache = cache}.environments());
    const spec::EnvironmentLimits& limits = configuration().environments.limits;
    options.limits = {limits.wall, limits.silence, limits.jobs};
    options.bring = package_files();
    environments_.emplace(folders().environments(), processes_, clock_, std::move(options));
  }
  return *environments_;
}

FetchServices& Workspace::fetching() {
  if (!fetching_) {
    fetching_.emplace(configuration(), configuration_folder(), sites(), processes_, clock_, [this] {
      return stop();
    });
  }
  return *fetching_;
}

env::BringFiles Workspace::package_files() {
  return [this](const std::vector<env::PinnedFile>& files,
                const env::Download& download,
                base::Observer& observer,
                const std::stop_token& stop) {
    if (offline_) return assets::find_package_files(files, cache());
    const assets::FetchFiles fetch = [&](const std::vector<spec::AssetFile>& wanted) {
      assets::FetchOptions how;
      how.has_login = fetching().login_lookup();
      // What is to be locked is asked for anew.
      how.refresh =
          std::ranges::any_of(wanted, [](const auto& file) { return file.digests.empty(); });
      std::vector<cache::Object> objects;
      for (assets::FetchedFile& file : runner()
                                           .preparer()
                                           .fetcher(observer, stop)
                                           .fetch_files("environment", wanted, how, observer, stop))
        objects.push_back(std::move(file.object));
      return objects;
    };
    return assets::fetch_package_files(files, download, fetch, cache(), observer, stop);
  };
}

catalog::Catalog& Workspace::catalog_as_it_is() {
  if (!catalog_) {
    base::make_directories(folders().home);
    catalog_ = std::make_unique<catalog::Catalog>(folders().catalog());
  }
  return *catalog_;
}

app::OnNews Workspace::on_news() {
  return fire_on_news(
      folders(),
      [this]() -> FetchServices& { return fetching(); },
      processes_,
      observer_,
      stop_.token());
}

catalog::Catalog& Workspace::catalog() {
  if (catalog_) return *catalog_;
  base::make_directories(folders().home);
  catalog_ = app::open_catalog(
      folders().catalog(), folders().runs(), clock_, observer_, {}, [this](auto& catalog) {
        app::index_inbox(catalog, folders().runs(), clock_, observer_, on_news());
      });
  return *catalog_;
}

void Workspace::index_runs() {
  try {
    refresh_catalog();
  } catch (const Error& error) {
    // The runs are recorded in files; the index can be made again at any time.
    observer().warn(error.what(), error.hint());
  }
}

void Workspace::refresh_catalog() {
  app::index_inbox(catalog(), folders().runs(), clock_, observer_, on_news());
}

const home::Sites& Workspace::sites() {
  if (!sites_) sites_.emplace(configuration_folder(), shipped_folder(program_path()) / "catalog");
  return *sites_;
}

spec::Site Workspace::site(const std::string& name) {
  spec::Site site = sites().site(name);
  if (site.prefix.empty()) site.prefix = sites().scheduler(site.scheduler).prefix;
  // Not every scheduler hands its caller's variables on.
  site.variables.emplace("SABATH_HOME", folders().home.string());
  site.variables.emplace("SABATH_CONFIG", configuration_folder().string());
  site.variables.emplace("SABATH_CACHE",
                         site.cache.empty() ? folders().cache.string() : site.cache);
  return site;
}

void Workspace::use_site(const std::string& name) {
  const spec::Site chosen = site(name);
  folders();
  if (!chosen.cache.empty()) folders_->cache = chosen.cache;
  variant_ = chosen.variant;
}

namespace {

/// Where what a site requests says who is asked (a cluster), the same id is another job there.
std::string memo_of(const spec::Site& site, const spec::SchedulerDescription& description) {
  std::string name = site.name;
  for (const auto& [request, value] : site.request) {
    const std::string placeholder = "{request." + request + "}";
    const auto has_it = [&](const std::string& word) {
      return word.find(placeholder) != std::string::npos;
    };
    const bool asks =
        std::ranges::any_of(description.poll, [&](const spec::SchedulerQuestion& one) {
          return std::ranges::any_of(one.command, has_it);
        });
    if (asks) name += "-" + launch::job_word(value);
  }
  return name + ".json";
}

}  // namespace

Workspace::Monitored::Monitored(const spec::Site& site, Workspace& workspace)
    : scheduler(workspace.sites().scheduler(site.scheduler), site, workspace.processes()),
      monitor(scheduler,
              workspace.folders().state() / "schedulers" / memo_of(site, scheduler.description()),
              workspace.clock(),
              workspace.observer()) {}

batch::SchedulerMonitor& Workspace::monitor(const spec::Site& site) {
  // Runs were handed in as the site was then: it may request another cluster by now.
  std::string key = site.name + "/" + std::to_string(site.at_once);
  for (const auto& [name, value] : site.request)
    key += "/" + name + "=" + value;
  auto& made = monitors_[key];
  if (!made) made = std::make_unique<Monitored>(site, *this);
  return made->monitor;
}

app::RecipeRunner& Workspace::runner() {
  if (!runner_) {
    launcher_ = launch::local_launcher();
    const auto fetchers = [this]() -> const fetch::FetcherList& { return fetching().fetchers(); };
    const planning::RecipePreparer::Tools tools{
        documents(),
        environments(),
        cache(),
        fetchers,
        processes_,
        clock_,
        fetching().login_lookup(),
        variant_.empty() ? configuration().environments.variant : variant_};
    runner_.emplace(tools, *launcher_, folders(), program_path());
  }
  return *runner_;
}

bool Workspace::answer(std::string_view text) const {
  return write_answer(options_.json ? base::printable_json(text) : base::printable(text, true));
}

bool write_answer(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return true;
  if (errno == EPIPE) return false;
  base::throw_errno("standard output", "cannot write the answer", errno);
}

}  // namespace sabath::cli
