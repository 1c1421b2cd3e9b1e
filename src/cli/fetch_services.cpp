#include "fetch_services.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/version.hpp>
#include <sabath/fetch/resolvers.hpp>
#include <sabath/fetch/tools.hpp>

#include <iterator>
#include <sstream>
#include <utility>

namespace sabath::cli {
namespace {

std::string variable_of_session(const char* name) {
  return base::variable_of(base::current_environment(), name);
}

/// As configured; HF_ENDPOINT is what huggingface_hub knows too.
fetch::ServiceEndpoints service_endpoints(const spec::Configuration& configuration) {
  fetch::ServiceEndpoints endpoints{
      configuration.endpoints.hf, configuration.endpoints.doi, configuration.endpoints.zenodo};
  if (const std::string hub = variable_of_session("HF_ENDPOINT"); !hub.empty()) endpoints.hf = hub;
  while (endpoints.hf.ends_with('/'))
    endpoints.hf.pop_back();
  return endpoints;
}

/// Does the user's .netrc, which libcurl reads, have a login for `host`?
bool netrc_names(std::string_view host) {
  const std::string home = variable_of_session("HOME");
  if (home.empty()) return false;
  const auto text = base::read_file_if_exists(std::filesystem::path(home) / ".netrc");
  std::istringstream words(text.value_or(""));
  std::string before;
  for (std::string word; words >> word; before = word) {
    if (before == "machine" && word == host) return true;
  }
  return false;
}

}  // namespace

FetchServices::FetchServices(spec::Configuration configuration,
                             std::filesystem::path folder,
                             const home::Sites& sites,
                             base::ProcessRunner& processes,
                             base::Clock& clock,
                             std::function<std::stop_token()> stop)
    : configuration_(std::move(configuration)),
      folder_(std::move(folder)),
      sites_(sites),
      processes_(processes),
      clock_(clock),
      stop_(std::move(stop)) {}

execution::HookSettings FetchServices::hooks() {
  return {configuration_.hooks,
          configuration_.sendmail,
          [this](std::string_view scheme, std::string_view host) {
            return credentials().for_host(scheme, host);
          }};
}

fetch::CredentialStore& FetchServices::credentials() {
  if (!credentials_) {
    auto secrets = fetch::load_secrets(folder_ / "credentials.json");
    credentials_ =
        std::make_unique<fetch::CredentialStore>(std::move(secrets), processes_, stop_());
  }
  return *credentials_;
}

const std::vector<std::unique_ptr<fetch::Fetcher>>& FetchServices::fetchers() {
  if (fetchers_.empty()) {
    fetch::EngineOptions options;
    options.user_agent = "sabath/" + std::string(base::version());
    options.credentials_for = [this](std::string_view scheme, std::string_view host) {
      return credentials().for_host(scheme, host);
    };
    options.secrets_on_loopback = true;
    const int configured = configuration_.connections_per_host;
    if (configured > 0) options.connections_per_host = static_cast<unsigned>(configured);
    const fetch::ServiceEndpoints endpoints = service_endpoints(configuration_);
    fetch::give_hub_token(options, endpoints.hf, variable_of_session("HF_TOKEN"));
    fetchers_ = fetch::builtin_fetchers(options, clock_);
    const auto add = [this](fetch::FetcherList more) {
      std::move(more.begin(), more.end(), std::back_inserter(fetchers_));
    };
    add(fetch::resolving_fetchers(options, endpoints, clock_));
    add(fetch::tool_fetchers({.processes = processes_,
                              .credentials = credentials(),
                              .configuration = configuration_,
                              .documents = sites_.tools()},
                             clock_));
    fetch::choose_fetchers(fetchers_, configuration_.prefer, chosen_);
  }
  return fetchers_;
}

void FetchServices::choose(std::string name, unsigned connections) {
  chosen_ = std::move(name);
  if (connections > 0) configuration_.connections_per_host = static_cast<int>(connections);
}

std::function<bool(std::string_view, std::string_view)> FetchServices::login_lookup() {
  return [this](std::string_view scheme, std::string_view host) {
    const fetch::Credentials known = credentials().for_host(scheme, host);
    return !known.user.empty() || !known.bearer.empty() || !known.headers.empty() ||
           netrc_names(host.substr(0, host.find(':')));
  };
}

}  // namespace sabath::cli
