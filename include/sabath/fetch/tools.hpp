#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/fetch/credential_store.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/tool.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

using FetcherList = std::vector<std::unique_ptr<Fetcher>>;

/// Surroundings of fetchers that run programs. All references outlive them.
struct ToolOptions {
  base::ProcessRunner& processes;
  CredentialStore& credentials;
  const spec::Configuration& configuration;
  std::chrono::seconds silence{120};     ///< without growth, after which the attempt fails
  std::chrono::milliseconds poll{5000};  ///< between two queries of a service's task
  std::string ca_file{};   ///< certificates to trust instead of the system's; empty: the system's
  bool allow_file = true;  ///< git+file: sources come only from the user's own documents
  std::vector<spec::ToolDescription> documents{};  ///< of programs that download a file
};

/// Makes the fetchers that run programs: those of this module, those that documents describe, and
/// those of the configuration, in this order. Looks for no program before the first transfer.
FetcherList tool_fetchers(const ToolOptions& options, base::Clock& clock);

/// Makes the fetchers named in `prefer` the preferred ones of their schemes. A `forced` fetcher
/// (not empty) is the only one that stays. Throws Error{usage} for an unknown fetcher or a scheme
/// that it does not take; the hint lists the known ones.
void choose_fetchers(FetcherList& fetchers,
                     const std::map<std::string, std::string>& prefer,
                     std::string_view forced = {});

}  // namespace sabath::fetch
