#include "builtin_tools.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sabath::fetch {

namespace {

/// One scheme of another fetcher of the same list, at the list's front.
class Preferred final : public Fetcher {
 public:
  Preferred(std::string scheme, Fetcher& fetcher) : scheme_(std::move(scheme)), fetcher_(fetcher) {}

  std::vector<std::string_view> schemes() const override { return {scheme_}; }
  std::string_view name() const override { return fetcher_.name(); }
  std::string_view description() const override { return fetcher_.description(); }
  bool takes_mirrors() const override { return fetcher_.takes_mirrors(); }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override {
    return fetcher_.fetch(urls, request, to, observer, std::move(stop));
  }
  std::optional<ListedFile> published(const std::string& url, std::stop_token stop) override {
    return fetcher_.published(url, std::move(stop));
  }
  bool names_many(const std::string& url) const override { return fetcher_.names_many(url); }
  std::vector<ListedFile> list(const std::string& url,
                               std::optional<std::uint64_t> limit,
                               base::Observer& observer,
                               std::stop_token stop) override {
    return fetcher_.list(url, limit, observer, std::move(stop));
  }
  bool takes_trees() const override { return fetcher_.takes_trees(); }
  Outcome fetch_tree(const std::string& url,
                     const std::filesystem::path& folder,
                     base::Observer& observer,
                     std::stop_token stop) override {
    return fetcher_.fetch_tree(url, folder, observer, std::move(stop));
  }

 private:
  std::string scheme_;
  Fetcher& fetcher_;
};

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
  FetcherList first;
  if (!forced.empty()) {
    first.push_back(std::move(find_named(fetchers, forced, "--fetcher")));
    fetchers = std::move(first);
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
    first.push_back(std::make_unique<Preferred>(scheme, fetcher));
  }
  std::move(fetchers.begin(), fetchers.end(), std::back_inserter(first));
  fetchers = std::move(first);
}

}  // namespace sabath::fetch
