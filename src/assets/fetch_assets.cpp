#include "assemble.hpp"
#include "fetch_each.hpp"
#include "fetch_one.hpp"
#include "fetch_set.hpp"
#include "fetch_tree.hpp"
#include "known_content.hpp"
#include "list_text.hpp"
#include "listing.hpp"

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/assets/fetch_tools.hpp>
#include <sabath/assets/local_data.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <set>

namespace sabath::assets {
namespace {

using base::Digest;
using base::Error;
using base::ErrorKind;

[[noreturn]] void throw_no_access(const spec::Asset& asset) {
  std::string steps;
  for (const std::string& step : asset.access.steps)
    steps += (steps.empty() ? "" : "\n") + step;
  throw Error(ErrorKind::access,
              "asset '" + asset.name + "': a login is needed to fetch it",
              steps.empty() ? "see " + asset.homepage : steps);
}

/// The host that a URL names, without a login.
std::string host_of(const std::string& url) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return {};
  const std::string rest = url.substr(begin + 3, url.find_first_of("/?#", begin + 3) - begin - 3);
  const auto at = rest.rfind('@');
  return at == std::string::npos ? rest : rest.substr(at + 1);
}

/// May a source of an asset behind a login be tried? Without a login it would give a page that asks
/// for one.
bool has_login(const std::vector<std::string>& urls, const FetchOptions& options) {
  return options.has_login && std::any_of(urls.begin(), urls.end(), [&](const std::string& url) {
           return options.has_login(url.substr(0, url.find(':')), host_of(url));
         });
}

/// What was listed once needs a login only for what is missing of it.
bool was_listed(const std::string& url, const FetchTools& tools) {
  return tools.cache.source(url) || tools.cache.source("listing:" + url) ||
         tools.cache.source("tree:" + url);
}

void check_access(const spec::Asset& asset, const FetchTools& tools) {
  const bool needs_none =
      asset.access.policy != "login" || tools.options.offline || !tools.options.local.empty();
  if (needs_none || (is_set(asset, tools.options) && known_set(asset.files, tools))) return;
  for (const std::string& url : {asset.list, asset.base}) {
    if (url.empty() || was_listed(url, tools)) continue;
    if (!has_login({url}, tools.options)) throw_no_access(asset);
  }
  for (const spec::AssetFile& file : asset.files) {
    if (!find_known(file, tools) && !has_login(file.sources, tools.options)) throw_no_access(asset);
  }
}

void check_there_is_something(const spec::Asset& asset) {
  if (!asset.withdrawn.empty()) {
    throw Error(ErrorKind::not_found, "asset '" + asset.name + "': withdrawn: " + asset.withdrawn);
  }
  if (asset.files.empty() && asset.manifest.empty() && asset.list.empty()) {
    throw Error(ErrorKind::not_found, "asset '" + asset.name + "': it has no files to fetch");
  }
}

std::vector<FetchedFile> take_all_local(const std::vector<spec::AssetFile>& files,
                                        const FetchTools& tools) {
  std::vector<FetchedFile> taken;
  taken.reserve(files.size());
  for (const spec::AssetFile& file : files)
    taken.push_back(take_local(file, local_path(file, files.size(), tools), tools));
  return taken;
}

std::vector<FetchedFile> bring(const std::string& name,
                               const std::vector<spec::AssetFile>& files,
                               const FetchTools& tools) {
  return tools.options.local.empty() ? fetch_each(name, files, tools)
                                     : take_all_local(files, tools);
}

/// Notes what another fetch of the same needs, so that it can be verified, kept and repaired by
/// name. A part of a list adds to what is there of it.
void remember(const std::string& name, const FetchedAsset& fetched, const FetchTools& tools) {
  std::set<Digest> digests(fetched.holdings.begin(), fetched.holdings.end());
  const auto before = tools.cache.asset(name);
  if (before && tools.options.limit) {
    for (const Digest& digest : before->digests) {
      if (tools.cache.find(digest) || tools.cache.find_tree(digest)) digests.insert(digest);
    }
  }
  const cache::AssetRecord record{name, {digests.begin(), digests.end()}};
  if (before && before->digests == record.digests) return;
  try {
    tools.cache.remember_asset(record);
  } catch (const Error& error) {
    // A cache that may only be read gives what it has.
    if (error.kind() != ErrorKind::storage) throw;
  }
}

void check_options(const FetchOptions& options) {
  if (options.link && options.local.empty()) {
    throw Error(ErrorKind::usage, "--link: goes with --path, which says where the data are");
  }
}

}  // namespace

AssetFetcher::AssetFetcher(cache::Cache& cache,
                           const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
                           base::Clock& clock,
                           Generate generate)
    : cache_(cache), fetchers_(fetchers), clock_(clock), generate_(std::move(generate)) {}

FetchedAsset AssetFetcher::generated(const spec::Asset& asset, const FetchOptions& options) {
  FetchedAsset fetched;
  const Generated made = generate_(asset, options);
  for (const auto& [path, object] : made.files) {
    FetchedFile& file = fetched.files.emplace_back();
    file.path = path;
    file.object = object;
    fetched.holdings.push_back(object.digest);
  }
  fetched.made_by_run = made.run_id;
  fetched.made_on_host = made.host;
  const cache::Tree tree = cache_.publish_tree(made.files);
  fetched.digest = tree.digest;
  fetched.path = tree.path;
  fetched.holdings.push_back(tree.digest);
  return fetched;
}

FetchedAsset AssetFetcher::fetch(const spec::Asset& asset,
                                 const FetchOptions& options,
                                 base::Observer& observer,
                                 std::stop_token stop) {
  check_options(options);
  const FetchTools tools{cache_, fetchers_, clock_, observer, std::move(stop), options};
  FetchedAsset fetched = brought(asset, tools);
  fetched.name = asset.name;
  fetched.version = asset.version;
  remember(asset.name, fetched, tools);
  return fetched;
}

std::vector<FetchedFile> AssetFetcher::fetch_files(const std::string& name,
                                                   const std::vector<spec::AssetFile>& files,
                                                   const FetchOptions& options,
                                                   base::Observer& observer,
                                                   std::stop_token stop) {
  return fetch_each(name, files, {cache_, fetchers_, clock_, observer, std::move(stop), options});
}

std::optional<FetchedAsset> AssetFetcher::mend(const spec::Asset& asset,
                                               const std::map<std::string, Digest>& files,
                                               const FetchOptions& options,
                                               base::Observer& observer,
                                               std::stop_token stop) {
  if (asset.generate || !is_set(asset, options)) return std::nullopt;
  const FetchTools tools{cache_, fetchers_, clock_, observer, std::move(stop), options};
  check_access(asset, tools);
  const auto named = named_files(asset, files, tools);
  if (!named) return std::nullopt;
  // They may be a part of what the asset has: nothing is forgotten of the others.
  FetchOptions part = options;
  part.limit = named->size();
  return fetch_set(asset.name, *named, {cache_, fetchers_, clock_, observer, tools.stop, part});
}

FetchedAsset AssetFetcher::brought(const spec::Asset& asset, const FetchTools& tools) {
  const FetchOptions& options = tools.options;
  if (asset.generate) {
    if (options.limit || !options.local.empty()) {
      throw Error(ErrorKind::usage,
                  "asset '" + asset.name + "': is computed; --path and --limit do not go with it");
    }
    return generated(asset, options);
  }
  check_there_is_something(asset);
  check_access(asset, tools);
  if (!asset.list.empty() && !asset.limit) {
    if (auto tree = fetch_tree(asset.list, tools)) return *std::move(tree);
  }
  const std::vector<spec::AssetFile> files = files_of(asset, tools);
  FetchedAsset fetched;
  if (is_set(asset, options)) {
    fetched = fetch_set(asset.name, files, tools);
  } else {
    fetched.files = bring(asset.name, files, tools);
    assemble(files, fetched, tools);
  }
  if (const auto list = list_object(asset, tools)) fetched.holdings.push_back(*list);
  return fetched;
}

FetchedAsset AssetFetcher::fetch_url(const std::string& url,
                                     const std::vector<Digest>& digests,
                                     const FetchOptions& options,
                                     base::Observer& observer,
                                     std::stop_token stop) {
  check_options(options);
  const FetchTools tools{cache_, fetchers_, clock_, observer, stop, options};
  if (digests.empty() && lister_of(url, tools) != nullptr) {
    spec::Asset asset;
    asset.name = url;
    asset.list = url;
    return fetch(asset, options, observer, stop);
  }
  FetchedAsset fetched;
  fetched.name = name_at_end(url);
  fetched.files = bring(fetched.name, {{fetched.name, {}, digests, {url}, {}}}, tools);
  fetched.digest = fetched.files.front().object.digest;
  fetched.path = fetched.files.front().object.path;
  if (!fetched.files.front().linked) fetched.holdings = {fetched.digest};
  remember(url, fetched, tools);
  return fetched;
}

}  // namespace sabath::assets
