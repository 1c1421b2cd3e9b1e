#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/inventory.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::assets {

/// Returns digest -> runs whose plan or record contains it, anywhere in the text. Parses nothing,
/// so that a document of another version keeps its data, too. Throws Error{storage} for an
/// unreadable document, whose references are unknown.
std::map<base::Digest, std::vector<std::string>> digests_of_runs(const home::Folders& folders);

/// Returns the digests that records of environments beneath a folder contain.
std::set<base::Digest> digests_of_environments(const std::filesystem::path& environments);

/// An object or a tree that an asset has in the cache.
struct AssetPart {
  std::string path{};                    ///< Of a file; empty: a tree, a list or an unpacked file.
  std::optional<base::Digest> digest{};  ///< None: it was never fetched.
  /// The file outside the cache of `fetch --link`; counts where the cache has no object.
  std::optional<cache::SourceRecord> link{};
};

/// Returns the parts of an asset by the records: its files where each is an object, and all that
/// its last fetch noted. Does not check that they are still present.
std::vector<AssetPart> parts_of(const spec::Asset& asset, const cache::Cache& cache);

/// Says whether it is a URL, not the name of an asset or a digest.
bool is_url(const std::string& name);

/// Returns names of assets -> their cached files, and the trees made of them.
std::map<std::string, std::vector<base::Digest>> digests_of_assets(
    const home::Documents& documents, const cache::Cache& cache, const cache::Inventory& inventory);

/// Returns what garbage collection keeps: the digests that runs and environments contain. An asset
/// stays whole where a part of it stays: with its list, and where its files came from.
std::set<base::Digest> digests_in_use(const home::Folders& folders,
                                      const home::Documents& documents,
                                      const cache::Cache& cache,
                                      const cache::Inventory& inventory);

/// Returns `name` for messages and records: a URL without its secret parts.
std::string displayed_name(const std::string& name);

/// Returns the cached content of a digest (at least its first 8 digits), an asset's name or a URL.
/// Throws Error{not_found|usage}.
std::vector<base::Digest> digests_called(const std::string& name,
                                         const home::Documents& documents,
                                         const cache::Cache& cache,
                                         const cache::Inventory& inventory);

}  // namespace sabath::assets
