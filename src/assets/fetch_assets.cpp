#include "fetch_one.hpp"
#include "fetch_set.hpp"
#include "fetch_tools.hpp"
#include "fetch_tree.hpp"
#include "file_listing.hpp"
#include "known_content.hpp"
#include "list_text.hpp"
#include "local_data.hpp"

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/assets/fetch_results.hpp>
#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

/// Returns the host of a URL, without a login.
std::string host_of(const std::string& url) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return {};
  const std::string rest = url.substr(begin + 3, url.find_first_of("/?#", begin + 3) - begin - 3);
  const auto at = rest.rfind('@');
  return at == std::string::npos ? rest : rest.substr(at + 1);
}

/// Says whether the user has a login for one of the URLs. Without one, a source gives a login page.
bool has_login(const std::vector<std::string>& urls, const FetchOptions& options) {
  return options.has_login && std::ranges::any_of(urls, [&](const std::string& url) {
           return options.has_login(url.substr(0, url.find(':')), host_of(url));
         });
}

/// Says whether it was listed before: then only missing files need a login.
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

/// Adds present files to the results. Returns the numbers of the others.
std::vector<std::size_t> look_for_known(const std::vector<spec::AssetFile>& files,
                                        FetchResults& results,
                                        const FetchTools& tools) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      auto current = find_current(files[i], tools);
      if (current) {
        results.files[i] = *std::move(current);
      } else {
        missing.push_back(i);
      }
    } catch (const Error& error) {
      results.fail(error);
    }
  }
  return missing;
}

/// Checks the known need of space before the first byte. The unpacked size of an archive is
/// unknown: it counts with its own size.
void check_space_for(const std::vector<spec::AssetFile>& files,
                     const std::vector<std::size_t>& missing,
                     const FetchTools& tools) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : missing) {
    const std::uint64_t size = files[i].size_bytes.value_or(0);
    const std::uint64_t there = size > 0 ? tools.cache.partial_bytes(partial_key(files[i])) : 0;
    bytes += size - std::min(size, there);
    if (!files[i].unpack.empty()) bytes += size;
  }
  // Each file is an object and has its place in the tree.
  tools.cache.check_space(bytes, 2 * missing.size());
}

/// Fetches a few files, one after the other, each as object and with its own progress.
std::vector<FetchedFile> fetch_each(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools) {
  FetchResults results(files.size());
  const std::vector<std::size_t> missing = look_for_known(files, results, tools);
  if (!missing.empty()) check_space_for(files, missing, tools);
  for (const std::size_t i : missing) {
    try {
      results.files[i] = fetch_missing(files[i], tools);
    } catch (const Error& error) {
      results.fail(error);
    }
  }
  results.check(name);
  return std::move(results.files);
}

/// Limit of the growth of an unpacked file without a declared size.
constexpr std::uint64_t usual_growth = 100;

base::ArchiveLimits limits_of(const spec::AssetFile& file) {
  base::ArchiveLimits limits;
  limits.hint =
      "if that is right, set \"unpacked_size\": BYTES for this file in the asset's document";
  limits.ratio = usual_growth;
  if (file.unpacked_bytes) {
    limits.total_bytes = *file.unpacked_bytes;
    limits.ratio_floor_bytes = *file.unpacked_bytes;
  }
  return limits;
}

/// Returns the content of a compressed file. Unpacks it only once.
cache::Object unpacked_object(const cache::Object& packed,
                              const spec::AssetFile& file,
                              const FetchTools& tools) {
  const std::string key = "unpacked:" + file.unpack + ":" + packed.digest.text();
  if (const auto record = tools.cache.source(key)) {
    if (auto object = tools.cache.find(record->digest)) return *std::move(object);
  }
  tools.observer.note("unpacking " + file.path);
  auto partial = tools.cache.open_partial(key);
  std::uint64_t offset = 0;
  base::decompress_file(
      packed.path,
      file.unpack,
      [&](base::ByteView bytes) {
        partial->write_at(offset, bytes);
        offset += bytes.size();
      },
      limits_of(file),
      tools.observer,
      tools.stop);
  cache::Object object = tools.cache.publish(std::move(partial), {});
  tools.remember({.kind = cache::SourceRecord::Kind::unpacked,
                  .url = key,
                  .digest = object.digest,
                  .size_bytes = object.size_bytes});
  return object;
}

/// Makes the tree of an asset whose files are objects. Unpacks archives and compressed files.
void assemble(const std::vector<spec::AssetFile>& files,
              FetchedAsset& fetched,
              const FetchTools& tools) {
  std::map<std::string, cache::Object> plain;
  std::vector<cache::PackedPart> packed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const cache::Object& object = fetched.files[i].object;
    if (!fetched.files[i].linked) fetched.holdings.push_back(object.digest);
    const std::string path = spec::unpacked_path(files[i]);
    if (spec::is_archive(files[i])) {
      packed.push_back({object, files[i].unpack, path, limits_of(files[i])});
    } else if (!files[i].unpack.empty()) {
      plain.emplace(path, unpacked_object(object, files[i], tools));
      fetched.holdings.push_back(plain.at(path).digest);
    } else {
      plain.emplace(path, object);
    }
  }
  const cache::Tree tree =
      packed.empty() ? tools.cache.publish_tree(plain)
                     : tools.cache.publish_archives(packed, plain, tools.observer, tools.stop);
  fetched.digest = tree.digest;
  fetched.path = tree.path;
  fetched.holdings.push_back(tree.digest);
}

std::vector<FetchedFile> bring(const std::string& name,
                               const std::vector<spec::AssetFile>& files,
                               const FetchTools& tools) {
  return tools.options.local.empty() ? fetch_each(name, files, tools)
                                     : take_all_local(files, tools);
}

/// Notes the parts of an asset, so that it can be verified, kept and repaired by name. A part of a
/// list adds to the noted parts.
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
    // A read-only cache only lacks the note.
    if (error.kind() != ErrorKind::storage) throw;
  }
}

void check_options(const FetchOptions& options) {
  if (options.link && options.local.empty()) {
    throw Error(ErrorKind::usage, "--link: needs --path, which says where the data are");
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
  FetchedAsset fetched = materialize(asset, tools);
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

std::optional<FetchedAsset> AssetFetcher::refetch(const spec::Asset& asset,
                                                  const std::map<std::string, Digest>& files,
                                                  const FetchOptions& options,
                                                  base::Observer& observer,
                                                  std::stop_token stop) {
  if (asset.generate || !is_set(asset, options)) return std::nullopt;
  const FetchTools tools{cache_, fetchers_, clock_, observer, std::move(stop), options};
  check_access(asset, tools);
  const auto named = files_at(asset, files, tools);
  if (!named) return std::nullopt;
  // They may be a part of the asset: a limit keeps the notes of the others.
  FetchOptions part = options;
  part.limit = named->size();
  return fetch_set(asset.name, *named, {cache_, fetchers_, clock_, observer, tools.stop, part});
}

FetchedAsset AssetFetcher::materialize(const spec::Asset& asset, const FetchTools& tools) {
  const FetchOptions& options = tools.options;
  if (asset.generate) {
    if (options.limit || !options.local.empty()) {
      throw Error(ErrorKind::usage,
                  "asset '" + asset.name + "': is computed; --path and --limit cannot be used");
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
