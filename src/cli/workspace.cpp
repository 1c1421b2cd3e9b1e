#include "workspace.hpp"

#include "log.hpp"
#include "selected_runs.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/assets/package_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/printable_json.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>
#include <sabath/fetch/resolvers.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <sstream>

namespace sabath::cli {

using base::Error;
using base::ErrorKind;

namespace {

std::string variable(const char* name) {
  const auto environment = base::current_environment();
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

/// As configured; HF_ENDPOINT is what huggingface_hub knows too.
fetch::ServiceEndpoints service_endpoints(const spec::Configuration& configuration) {
  fetch::ServiceEndpoints endpoints{
      configuration.endpoints.hf, configuration.endpoints.doi, configuration.endpoints.zenodo};
  if (const std::string hub = variable("HF_ENDPOINT"); !hub.empty()) endpoints.hf = hub;
  while (endpoints.hf.ends_with('/'))
    endpoints.hf.pop_back();
  return endpoints;
}

/// Does the user's .netrc, which libcurl reads, have a login for `host`?
bool netrc_names(std::string_view host) {
  const auto environment = base::current_environment();
  const auto home = environment.find("HOME");
  if (home == environment.end()) return false;
  const auto text = base::read_file_if_exists(std::filesystem::path(home->second) / ".netrc");
  std::istringstream words(text.value_or(""));
  std::string before;
  for (std::string word; words >> word; before = word) {
    if (before == "machine" && word == host) return true;
  }
  return false;
}

}  // namespace

Workspace::Workspace(const GlobalOptions& options)
    : options_(options), observer_(options.quiet, clock_) {
  end_at_signal();
}

void Workspace::refuse_json(const std::string& hint) const {
  if (!options_.json) return;
  throw Error(ErrorKind::usage, "--json: '" + options_.command + "' has only text to answer", hint);
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
    throw Error(ErrorKind::usage,
                "HOME: not set, so there is no place for the configuration",
                "set SABATH_CONFIG");
  }
  return folders().configuration;
}

const spec::Configuration& Workspace::configuration() {
  if (!configuration_) configuration_ = read_configuration(configuration_folder());
  return *configuration_;
}

fetch::CredentialStore& Workspace::credentials() {
  if (!credentials_) {
    auto secrets = fetch::load_secrets(configuration_folder() / "credentials.json");
    credentials_ = std::make_unique<fetch::CredentialStore>(std::move(secrets), processes_, stop());
  }
  return *credentials_;
}

home::Documents& Workspace::documents() {
  if (!documents_) documents_.emplace(folders().assets, folders().recipes);
  return *documents_;
}

cache::Cache& Workspace::cache() {
  if (!cache_) {
    cache_ =
        std::make_unique<cache::Cache>(folders().cache, folders().state(), clock_, cache_options());
  }
  return *cache_;
}

cache::Keeping& Workspace::keeping() {
  if (!keeping_) {
    keeping_ = std::make_unique<cache::Keeping>(
        folders().cache, folders().state(), clock_, cache_options());
  }
  return *keeping_;
}

std::filesystem::path Workspace::keeping_root() {
  return cache().root();
}

cache::CacheOptions Workspace::cache_options() {
  cache::CacheOptions options =
      read_cache_options(base::current_environment(), configuration().cache);
  options.trust = trust();
  return options;
}

std::vector<std::string> Workspace::known_secrets() {
  std::vector<std::string> values;
  try {
    for (const spec::Secret& secret :
         fetch::load_secrets(configuration_folder() / "credentials.json")) {
      values.insert(values.end(), {secret.bearer, secret.header.second, secret.password});
    }
  } catch (const base::Error& error) {
    observer().warn(error.what(), error.hint());  // no run fails for what it has no need of
  }
  return values;
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
    environments_ = std::make_unique<env::EnvironmentStore>(
        folders().environments(), processes_, clock_, std::move(options));
  }
  return *environments_;
}

env::BringFiles Workspace::package_files() {
  return [this](const std::vector<env::PinnedFile>& files,
                const env::Download& download,
                base::Observer& observer,
                const std::stop_token& stop) {
    if (offline_) return assets::find_package_files(files, cache());
    const assets::FetchFiles fetch = [&](const std::vector<spec::AssetFile>& wanted) {
      assets::FetchOptions how;
      how.has_login = login_lookup();
      // What is to be locked is asked for anew.
      how.refresh = std::any_of(
          wanted.begin(), wanted.end(), [](const auto& file) { return file.digests.empty(); });
      std::vector<cache::Object> objects;
      for (assets::FetchedFile& file : runner()
                                           .preparer()
                                           .fetcher(observer, stop)
                                           .fetch_files("environment", wanted, how, observer, stop))
        objects.push_back(std::move(file.object));
      return objects;
    };
    return assets::bring_package_files(files, download, fetch, cache(), observer, stop);
  };
}

const std::vector<std::unique_ptr<fetch::Fetcher>>& Workspace::fetchers() {
  if (fetchers_.empty()) {
    fetch::EngineOptions options;
    options.user_agent = "sabath/" + std::string(base::version());
    options.credentials_for = [this](std::string_view scheme, std::string_view host) {
      return credentials().for_host(scheme, host);
    };
    options.secrets_on_loopback = true;
    const int configured = configuration().connections_per_host;
    if (configured > 0) options.connections_per_host = static_cast<unsigned>(configured);
    const fetch::ServiceEndpoints endpoints = service_endpoints(configuration());
    fetch::give_hub_token(options, endpoints.hf, variable("HF_TOKEN"));
    fetchers_ = fetch::builtin_fetchers(options, clock_);
    const auto add = [this](fetch::FetcherList more) {
      std::move(more.begin(), more.end(), std::back_inserter(fetchers_));
    };
    add(fetch::resolving_fetchers(options, endpoints, clock_));
    add(fetch::tool_fetchers({processes_, credentials(), configuration()}, clock_));
    fetch::choose_fetchers(fetchers_, configuration().prefer, chosen_fetcher_);
  }
  return fetchers_;
}

void Workspace::choose_fetchers(std::string name, unsigned connections) {
  chosen_fetcher_ = std::move(name);
  if (connections == 0) return;
  configuration();
  configuration_->connections_per_host = static_cast<int>(connections);
}

std::function<bool(std::string_view, std::string_view)> Workspace::login_lookup() {
  return [this](std::string_view scheme, std::string_view host) {
    const fetch::Credentials known = credentials().for_host(scheme, host);
    return !known.user.empty() || !known.bearer.empty() || !known.headers.empty() ||
           netrc_names(host.substr(0, host.find(':')));
  };
}

catalog::Catalog& Workspace::catalog_as_it_is() {
  if (!catalog_) {
    base::make_directories(folders().home);
    catalog_ = std::make_unique<catalog::Catalog>(folders().catalog());
  }
  return *catalog_;
}

catalog::Catalog& Workspace::catalog() {
  if (!catalog_) {
    base::make_directories(folders().home);
    catalog_ = app::open_catalog(folders().catalog(), folders().runs(), clock_, observer_);
  }
  return *catalog_;
}

void Workspace::index_runs() {
  try {
    catalog();
  } catch (const Error& error) {
    // The runs are recorded in files; the index can be made again at any time.
    observer().warn(error.what(), error.hint());
  }
}

void Workspace::refresh_catalog() {
  app::index_inbox(catalog(), folders().runs(), clock_, observer_);
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
    const bool asks = std::any_of(
        description.poll.begin(), description.poll.end(), [&](const spec::SchedulerQuestion& one) {
          return std::any_of(one.command.begin(), one.command.end(), has_it);
        });
    if (asks) name += "-" + launch::job_word(value);
  }
  return name + ".json";
}

}  // namespace

Workspace::SchedulerAndDesk::SchedulerAndDesk(const spec::Site& site, Workspace& workspace)
    : scheduler(workspace.sites().scheduler(site.scheduler), site, workspace.processes()),
      desk(scheduler,
           workspace.folders().state() / "schedulers" / memo_of(site, scheduler.description()),
           workspace.clock(),
           workspace.observer()) {}

batch::SchedulerDesk& Workspace::desk(const spec::Site& site) {
  // Runs were handed in as the site was then: it may request another cluster by now.
  std::string key = site.name + "/" + std::to_string(site.at_once);
  for (const auto& [name, value] : site.request)
    key += "/" + name + "=" + value;
  auto& made = desks_[key];
  if (!made) made = std::make_unique<SchedulerAndDesk>(site, *this);
  return made->desk;
}

app::RecipeRunner& Workspace::runner() {
  if (!runner_) {
    launchers_ = launch::builtin_launchers();
    const planning::RecipePreparer::Tools tools{
        documents(),
        environments(),
        cache(),
        fetchers(),
        processes_,
        clock_,
        login_lookup(),
        variant_.empty() ? configuration().environments.variant : variant_};
    runner_ =
        std::make_unique<app::RecipeRunner>(tools, *launchers_.front(), folders(), program_path());
  }
  return *runner_;
}

catalog::RunRow Workspace::one_run(const std::string& selection) {
  const std::vector<catalog::RunRow> rows = selected_runs(selection, *this);
  if (rows.size() > 1) {
    throw Error(ErrorKind::usage,
                "selection '" + base::printable(selection) + "': matches " +
                    std::to_string(rows.size()) + " runs where one is wanted",
                "name one of them, such as " + rows.back().id);
  }
  return rows.front();
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

bool names_a_run(const std::string& name) {
  return name.starts_with('@') || spec::is_run_id(name) || name.find('=') != std::string::npos;
}

}  // namespace sabath::cli
