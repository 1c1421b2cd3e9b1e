#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/fetch_assets.hpp>
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

/// Returns damage that `verify` finds, and entries damaged/<digest>.<time>.
Damage damage_in(const cache::VerifyReport& report, const cache::Inventory& inventory) {
  Damage damage;
  std::map<Digest, Kind> kinds;
  for (const cache::Stored& stored : inventory.stored)
    kinds.emplace(stored.digest, stored.kind);
  for (const std::filesystem::path& path : report.set_aside) {
    const auto digest = base::parse_digest(path.filename().string().substr(0, 64));
    if (digest) damage.emplace(is_directory(path) ? Kind::tree : Kind::object, *digest);
  }
  // Present and right content needs no repair.
  for (const cache::Stored& stored : inventory.stored)
    damage.erase({stored.kind, stored.digest});
  for (const cache::VerifyFinding& finding : report.damaged) {
    const auto kind = finding.digest ? kinds.find(*finding.digest) : kinds.end();
    if (kind != kinds.end()) damage.emplace(kind->second, kind->first);
  }
  return damage;
}

/// Returns every URL that gave the bytes, or has them by a document.
std::map<Digest, std::vector<std::string>> urls_of(
    const std::vector<cache::SourceRecord>& sources,
    const std::vector<home::AssetDocument>& documents) {
  std::map<Digest, std::vector<std::string>> urls;
  const auto add = [&](const Digest& digest, const std::string& url) {
    std::vector<std::string>& known = urls[digest];
    if (std::ranges::find(known, url) == known.end()) known.push_back(url);
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

/// Adds the files of trees: one damaged piece of a large file, which is an object, can be fetched.
std::set<Digest> with_files_of_trees(const std::vector<Digest>& digests,
                                     const cache::CacheMaintenance& maintenance) {
  std::set<Digest> all(digests.begin(), digests.end());
  for (const Digest& digest : digests) {
    const auto origin = maintenance.origin_of_tree(digest);
    if (!origin) continue;
    for (const auto& [path, file] : origin->files)
      all.insert(file);
  }
  return all;
}

/// Returns the URL of a folder that was listed or fetched as a whole.
std::string folder_url(const cache::SourceRecord& record) {
  const auto colon = record.url.find(':');
  if (colon == std::string::npos) return {};
  if (record.kind == cache::SourceRecord::Kind::tree) return record.url.substr(colon + 1);
  if (record.kind != cache::SourceRecord::Kind::listing) return {};
  return record.url.substr(colon + 1, record.url.find(' ') - colon - 1);
}

using AssetsByPart = std::map<Digest, std::shared_ptr<const spec::Asset>>;

/// Returns the asset of each digest, by documents and by URLs of many files.
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

/// Returns the number of fetched files of a list; nothing without a list, or where it is unknown.
std::optional<std::uint64_t> files_fetched(const spec::Asset& asset, const RepairTools& tools) {
  const bool has_list = !asset.list.empty() || !asset.manifest.empty();
  const auto record = tools.cache.asset(asset.name);
  if (!has_list || !record || tools.cache.source("tree:" + asset.list)) return std::nullopt;
  std::uint64_t most = 0;
  for (const Digest& digest : record->digests) {
    const auto tree = tools.maintenance.origin_of_tree(digest);
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

/// Repairs one object or tree after the other.
class Repairer {
 public:
  Repairer(const RepairTools& tools, const std::stop_token& stop) : tools_(tools), stop_(stop) {}

  std::vector<Repaired> repair(const std::string& name) {
    const cache::Inventory inventory = tools_.maintenance.inventory(tools_.observer, stop_);
    Damage damage = damage_in(tools_.cache.verify(false, tools_.observer, stop_), inventory);
    if (!name.empty()) {
      const auto wanted = with_files_of_trees(
          digests_called(name, tools_.documents, tools_.cache, inventory), tools_.maintenance);
      std::erase_if(damage, [&](const auto& one) { return !wanted.contains(one.second); });
    }
    std::vector<Repaired> repaired;
    if (damage.empty()) return repaired;
    std::vector<home::BadDocument> bad;
    const auto documents = tools_.documents.assets(bad);
    const auto sources = tools_.maintenance.sources();
    urls_ = urls_of(sources, documents);
    assets_ = assets_by_part(tools_.cache, sources, documents);
    // Objects come first: trees are made of them.
    for (const auto& [kind, digest] : damage) {
      try {
        repaired.push_back(kind == Kind::tree ? repair_tree(digest) : repair_object(digest));
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::storage) throw;
        repaired.push_back({kind, digest, false, 0, 0, {}, error.what()});
      }
    }
    return repaired;
  }

 private:
  Repaired repair_object(const Digest& digest) {
    Repaired result{Kind::object, digest, false, 0, 0, {}, {}};
    // The look moves it to damaged/. Another process may have fetched it again meanwhile.
    if (const auto object = tools_.cache.find(digest)) {
      result.ok = true;
      result.size_bytes = object->size_bytes;
      return result;
    }
    const auto urls = urls_.find(digest);
    if (urls == urls_.end()) {
      fetch_again(digest, result);
      const auto object = tools_.cache.find(digest);
      result.ok = object.has_value();
      if (object) result.size_bytes = object->size_bytes;
      if (!object) result.problem = "no source is known; make it again";
      return result;
    }
    auto partial = tools_.cache.open_repair(digest);
    const fetch::Request request{
        urls->second, {}, {digest}, "repairing " + digest.hex.substr(0, 16)};
    const fetch::Outcome outcome = fetch::fetch_file(
        request, tools_.fetchers, *partial, {}, tools_.clock, tools_.observer, stop_);
    result.transferred = outcome.transferred;
    result.source = fetch::displayed_url(outcome.url);
    if (!outcome.ok) {
      result.problem = outcome.problem;
      return result;
    }
    result.size_bytes = tools_.cache.publish(std::move(partial), {digest}).size_bytes;
    result.ok = true;
    return result;
  }

  std::optional<cache::Tree> make_tree_again(const Digest& digest) const {
    const auto origin = tools_.maintenance.origin_of_tree(digest);
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
    // The record does not have the kind, and unpacking finds it.
    return tools_.cache.publish_archives({{*archive, "tar", {}, {}}}, {}, tools_.observer, stop_);
  }

  /// Fetches content again from its asset: only the damaged files of a tree where each has its own
  /// source, else as much of the asset as was fetched before.
  void fetch_again(const Digest& digest, Repaired& result) const {
    const auto found = assets_.find(digest);
    if (found == assets_.end()) return;
    const spec::Asset& asset = *found->second;
    AssetFetcher fetcher(tools_.cache, tools_.fetchers, tools_.clock, {});
    FetchOptions options;
    options.has_login = tools_.has_login;
    const auto tree = tools_.maintenance.origin_of_tree(digest);
    if (tree && !tree->has_more && !tree->archive) {
      const auto again = fetcher.refetch(asset, tree->files, options, tools_.observer, stop_);
      if (again) return add_transfers(*again, result);
    }
    options.limit = files_fetched(asset, tools_);
    add_transfers(fetcher.fetch(asset, options, tools_.observer, stop_), result);
  }

  Repaired repair_tree(const Digest& digest) {
    Repaired result{Kind::tree, digest, false, 0, 0, {}, {}};
    auto tree = tools_.cache.find_tree(digest);
    if (!tree) tree = make_tree_again(digest);
    if (!tree) {
      fetch_again(digest, result);
      tree = tools_.cache.find_tree(digest);
    }
    result.ok = tree && tree->digest == digest;
    if (result.ok) {
      result.size_bytes = tree->size_bytes;
    } else {
      result.problem = "its objects and its archive are missing; fetch its asset again";
    }
    return result;
  }

  const RepairTools& tools_;
  const std::stop_token& stop_;
  std::map<Digest, std::vector<std::string>> urls_{};
  AssetsByPart assets_{};
};

}  // namespace

std::vector<Repaired> repair_cache(const RepairTools& tools,
                                   const std::string& name,
                                   const std::stop_token& stop) {
  return Repairer(tools, stop).repair(name);
}

}  // namespace sabath::assets
