#include <sabath/assets/fetch_assets.hpp>
#include <sabath/assets/keep_cache.hpp>
#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/error.hpp>
#include <sabath/fetch/displayed_url.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace sabath::assets {
namespace {

using base::Digest;
using base::Error;
using base::ErrorKind;
using Kind = cache::Stored::Kind;
using Damage = std::set<std::pair<Kind, Digest>>;

/// What verify finds damaged, and what was set aside under damaged/<digest>.<time>.
Damage damage_in(const cache::VerifyReport& report, const cache::Inventory& inventory) {
  Damage damage;
  std::map<Digest, Kind> kinds;
  for (const cache::Stored& stored : inventory.stored)
    kinds.emplace(stored.digest, stored.kind);
  for (const std::filesystem::path& path : report.set_aside) {
    const auto digest = base::parse_digest(path.filename().string().substr(0, 64));
    if (digest) damage.emplace(is_directory(path) ? Kind::tree : Kind::object, *digest);
  }
  // What stands there again, and is right, needs nothing.
  for (const cache::Stored& stored : inventory.stored)
    damage.erase({stored.kind, stored.digest});
  for (const cache::VerifyFinding& finding : report.damaged) {
    const auto kind = finding.digest ? kinds.find(*finding.digest) : kinds.end();
    if (kind != kinds.end()) damage.emplace(kind->second, kind->first);
  }
  return damage;
}

/// Every URL that gave the bytes, or that a document says would.
std::map<Digest, std::vector<std::string>> urls_of(
    const std::vector<cache::SourceRecord>& sources,
    const std::vector<home::AssetDocument>& documents) {
  std::map<Digest, std::vector<std::string>> urls;
  const auto add = [&](const Digest& digest, const std::string& url) {
    std::vector<std::string>& known = urls[digest];
    if (std::find(known.begin(), known.end(), url) == known.end()) known.push_back(url);
  };
  for (const home::AssetDocument& document : documents) {
    for (const auto* const files : {&document.asset.files, &document.asset.manifest}) {
      for (const spec::AssetFile& file : *files) {
        for (const Digest& digest : file.digests) {
          for (const std::string& url : file.sources)
            add(digest, url);
        }
      }
    }
  }
  for (const cache::SourceRecord& record : sources) {
    if (record.kind == cache::SourceRecord::Kind::url) add(record.digest, record.url);
  }
  return urls;
}

/// A large file of a tree is an object of its own, of which the piece that is damaged can be had.
std::set<Digest> with_files_of_trees(const std::vector<Digest>& digests,
                                     const cache::Keeping& keeping) {
  std::set<Digest> all(digests.begin(), digests.end());
  for (const Digest& digest : digests) {
    const auto origin = keeping.origin_of_tree(digest);
    if (!origin) continue;
    for (const auto& [path, file] : origin->files)
      all.insert(file);
  }
  return all;
}

/// The URL whose folder was listed or brought as a whole.
std::string folder_url(const cache::SourceRecord& record) {
  const auto colon = record.url.find(':');
  if (colon == std::string::npos) return {};
  if (record.kind == cache::SourceRecord::Kind::tree) return record.url.substr(colon + 1);
  if (record.kind != cache::SourceRecord::Kind::listing) return {};
  return record.url.substr(colon + 1, record.url.find(' ') - colon - 1);
}

using AssetsByPart = std::map<Digest, std::shared_ptr<const spec::Asset>>;

/// The assets of which each digest is a part, and what URLs of many files gave without a document.
AssetsByPart assets_by_part(const cache::Cache& cache,
                            const std::vector<cache::SourceRecord>& sources,
                            const std::vector<home::AssetDocument>& documents) {
  AssetsByPart assets;
  const auto add = [&](spec::Asset asset) {
    const auto record = cache.asset(asset.name);
    if (!record) return;
    const auto shared = std::make_shared<const spec::Asset>(std::move(asset));
    for (const Digest& digest : record->digests)
      assets.try_emplace(digest, shared);
  };
  for (const home::AssetDocument& document : documents) {
    if (!document.asset.generate) add(document.asset);
  }
  for (const cache::SourceRecord& record : sources) {
    spec::Asset asset;
    asset.name = asset.list = folder_url(record);
    if (!asset.name.empty()) add(std::move(asset));
  }
  return assets;
}

/// So many files of a list were fetched; nothing where that is not known, or there is no list.
std::optional<std::uint64_t> files_fetched(const spec::Asset& asset,
                                           const CacheRepairer::Tools& tools) {
  const bool has_list = !asset.list.empty() || !asset.manifest.empty();
  const auto record = tools.cache.asset(asset.name);
  if (!has_list || !record || tools.cache.source("tree:" + asset.list)) return std::nullopt;
  std::uint64_t most = 0;
  for (const Digest& digest : record->digests) {
    const auto tree = tools.keeping.origin_of_tree(digest);
    if (tree) most = std::max<std::uint64_t>(most, tree->files.size());
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

void add_transfers(const FetchedAsset& fetched, Repaired& result) {
  for (const FetchedFile& file : fetched.files) {
    result.transferred += file.transferred;
    if (!file.source.empty()) result.source = file.source;
  }
}

}  // namespace

struct CacheRepairer::Origins {
  std::map<Digest, std::vector<std::string>> urls{};
  AssetsByPart assets{};
};

CacheRepairer::Origins CacheRepairer::read_origins() const {
  std::vector<home::BadDocument> bad;
  const auto documents = tools_.documents.assets(bad);
  const auto sources = tools_.keeping.sources();
  return {urls_of(sources, documents), assets_by_part(tools_.cache, sources, documents)};
}

Repaired CacheRepairer::repair_object(const Digest& digest,
                                      const Origins& origins,
                                      std::stop_token stop) const {
  Repaired result{Kind::object, digest, false, 0, 0, {}, {}};
  // Looking moves it to damaged/; somebody may have brought it again meanwhile.
  if (const auto object = tools_.cache.find(digest)) {
    result.ok = true;
    result.size_bytes = object->size_bytes;
    return result;
  }
  const auto urls = origins.urls.find(digest);
  if (urls == origins.urls.end()) {
    fetch_again(digest, origins, result, stop);
    const auto object = tools_.cache.find(digest);
    result.ok = object.has_value();
    if (object) result.size_bytes = object->size_bytes;
    if (!object) result.problem = "no source of it is known; make it again";
    return result;
  }
  auto staging = tools_.cache.stage_repair(digest);
  const fetch::Request request{urls->second, {}, {digest}, "repairing " + digest.hex.substr(0, 16)};
  const fetch::Outcome outcome = fetch::fetch_file(
      request, tools_.fetchers, *staging, {}, tools_.clock, tools_.observer, std::move(stop));
  result.transferred = outcome.transferred;
  result.source = fetch::displayed_url(outcome.url);
  if (!outcome.ok) {
    result.problem = outcome.problem;
    return result;
  }
  result.size_bytes = tools_.cache.publish(std::move(staging), {digest}).size_bytes;
  result.ok = true;
  return result;
}

std::optional<cache::Tree> CacheRepairer::make_tree_again(const Digest& digest,
                                                          std::stop_token stop) const {
  const auto origin = tools_.keeping.origin_of_tree(digest);
  if (!origin) return std::nullopt;
  if (!origin->has_more) {
    std::map<std::string, cache::Object> files;
    for (const auto& [path, file] : origin->files) {
      if (const auto object = tools_.cache.find(file)) files.emplace(path, *object);
    }
    if (files.size() == origin->files.size()) return tools_.cache.publish_tree(files);
  }
  const auto archive = origin->archive ? tools_.cache.find(*origin->archive) : std::nullopt;
  if (!archive) return std::nullopt;
  // The record does not say which kind it was; the wrong one is refused.
  try {
    return tools_.cache.publish_archive(*archive, "tar", tools_.observer, stop);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::integrity) throw;
    return tools_.cache.publish_archive(*archive, "zip", tools_.observer, stop);
  }
}

/// From the sources of an asset that has it: of a tree only the files that are damaged where each
/// can be asked for, else by another fetch of as much of the asset as was fetched.
void CacheRepairer::fetch_again(const Digest& digest,
                                const Origins& origins,
                                Repaired& result,
                                const std::stop_token& stop) const {
  const auto found = origins.assets.find(digest);
  if (found == origins.assets.end()) return;
  const spec::Asset& asset = *found->second;
  AssetFetcher fetcher(tools_.cache, tools_.fetchers, tools_.clock, {});
  FetchOptions options;
  options.has_login = tools_.has_login;
  const auto tree = tools_.keeping.origin_of_tree(digest);
  if (tree && !tree->has_more && !tree->archive) {
    const auto mended = fetcher.mend(asset, tree->files, options, tools_.observer, stop);
    if (mended) return add_transfers(*mended, result);
  }
  options.limit = files_fetched(asset, tools_);
  add_transfers(fetcher.fetch(asset, options, tools_.observer, stop), result);
}

Repaired CacheRepairer::repair_tree(const Digest& digest,
                                    const Origins& origins,
                                    std::stop_token stop) const {
  Repaired result{Kind::tree, digest, false, 0, 0, {}, {}};
  auto tree = tools_.cache.find_tree(digest);
  if (!tree) tree = make_tree_again(digest, stop);
  if (!tree) {
    fetch_again(digest, origins, result, stop);
    tree = tools_.cache.find_tree(digest);
  }
  result.ok = tree && tree->digest == digest;
  if (result.ok) {
    result.size_bytes = tree->size_bytes;
  } else {
    result.problem = "neither its objects nor its archive are there; fetch what it is of again";
  }
  return result;
}

std::vector<Repaired> CacheRepairer::repair(const std::string& name, std::stop_token stop) const {
  const cache::Inventory inventory = tools_.keeping.inventory(tools_.observer, stop);
  Damage damage = damage_in(tools_.cache.verify(false, tools_.observer, stop), inventory);
  if (!name.empty()) {
    const auto wanted = with_files_of_trees(
        digests_called(name, tools_.documents, tools_.cache, inventory), tools_.keeping);
    std::erase_if(damage, [&](const auto& one) { return !wanted.contains(one.second); });
  }
  std::vector<Repaired> repaired;
  if (damage.empty()) return repaired;
  const Origins origins = read_origins();
  // Objects come first: trees are made of them.
  for (const auto& [kind, digest] : damage) {
    try {
      repaired.push_back(kind == Kind::tree ? repair_tree(digest, origins, stop)
                                            : repair_object(digest, origins, stop));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::storage) throw;
      repaired.push_back({kind, digest, false, 0, 0, {}, error.what()});
    }
  }
  return repaired;
}

}  // namespace sabath::assets
