#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/fetch/credential_store.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/configuration.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

using FetcherList = std::vector<std::unique_ptr<Fetcher>>;

/// What fetchers that run programs take from their surroundings; what is referred to outlives them.
struct ToolOptions {
  base::ProcessRunner& processes;
  CredentialStore& credentials;
  const spec::Configuration& configuration;
  std::chrono::seconds silence{120};     ///< nothing grew for so long: the attempt has failed
  std::chrono::milliseconds poll{5000};  ///< between two looks at a task of a service
  std::string ca_file{};   ///< certificates to trust instead of the system's; empty: the system's
  bool allow_file = true;  ///< git+file: sources come only from the user's own documents
};

/// The only list of fetchers that run programs, and the user's own after them. Cheap: no program is
/// looked for before the first transfer.
FetcherList tool_fetchers(const ToolOptions& options, base::Clock& clock);

/// Gives the sources of each scheme in `prefer` to the fetcher that it names, by putting that
/// before all others; where one is `forced` (not empty) only that is left. Throws Error{usage},
/// with those there are as hint, where there is no such fetcher or it does not take the scheme.
void choose_fetchers(FetcherList& fetchers,
                     const std::map<std::string, std::string>& prefer,
                     std::string_view forced = {});

}  // namespace sabath::fetch
