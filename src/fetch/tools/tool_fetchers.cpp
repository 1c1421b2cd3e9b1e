#include "builtin_tools.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

namespace {

std::unique_ptr<Fetcher>& find_named(FetcherList& fetchers,
                                     std::string_view name,
                                     const std::string& place) {
  const auto found =
      std::ranges::find_if(fetchers, [&](const auto& fetcher) { return fetcher->name() == name; });
  if (found != fetchers.end()) return *found;
  std::vector<std::string_view> known;
  for (const auto& fetcher : fetchers)
    known.push_back(fetcher->name());
  throw base::Error(base::ErrorKind::usage,
                    fmt::format("{}: unknown fetcher '{}'", place, base::printable(name)),
                    fmt::format("known are {}", fmt::join(known, ", ")));
}

}  // namespace

FetcherList tool_fetchers(const ToolOptions& options, base::Clock& clock) {
  const ToolContext context{options, clock};
  FetcherList fetchers;
  fetchers.push_back(make_rsync_tool(context));
  fetchers.push_back(make_s3_tool(context));
  fetchers.push_back(make_globus_tool(context));
  fetchers.push_back(make_git_tool(context));
  for (const spec::ToolDescription& tool : options.documents)
    fetchers.push_back(make_described_tool(tool, context));
  for (const spec::ToolFetcher& own : options.configuration.fetchers)
    fetchers.push_back(make_own_tool(own, context));
  return fetchers;
}

void choose_fetchers(FetcherList& fetchers,
                     const std::map<std::string, std::string>& prefer,
                     std::string_view forced) {
  if (!forced.empty()) {
    auto only = std::move(find_named(fetchers, forced, "--fetcher"));
    fetchers.clear();
    fetchers.push_back(std::move(only));
    return;
  }
  for (const auto& [scheme, name] : prefer) {
    Fetcher& fetcher = *find_named(fetchers, name, "prefer");
    const auto schemes = fetcher.schemes();
    if (std::ranges::find(schemes, scheme) == schemes.end()) {
      throw base::Error(base::ErrorKind::usage,
                        fmt::format("prefer: fetcher '{}' does not take '{}'", name, scheme),
                        fmt::format("it takes {}", fmt::join(schemes, ", ")));
    }
    fetcher.preferred.insert(scheme);
  }
}

}  // namespace sabath::fetch
