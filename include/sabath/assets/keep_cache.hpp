#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/keeping.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::assets {

/// Digest -> runs whose plan or record names it, in any place. Nothing is parsed, so that a
/// document of another version keeps its data, too. Throws Error{storage} for one that cannot be
/// read: what it refers to is not known then.
std::map<base::Digest, std::vector<std::string>> digests_of_runs(const std::filesystem::path& runs);

/// The same of the environments beneath a folder.
std::set<base::Digest> digests_of_environments(const std::filesystem::path& environments);

/// An object or a tree that an asset has in the cache.
struct AssetPart {
  std::string path{};  ///< the file that it is; empty: it is a tree, a list or something unpacked
  std::optional<base::Digest> digest{};  ///< none: it was never fetched
  /// Outside of the cache, where `fetch --link` refers to it; counts where the cache has no object.
  std::optional<cache::SourceRecord> link{};
};

/// What an asset has in the cache, whatever way it is fetched: its files where each is an object,
/// and all that its last fetch noted. Whether that is there still is not asked.
std::vector<AssetPart> parts_of(const spec::Asset& asset, const cache::Cache& cache);

/// What a URL was linked to, if it was.
std::optional<cache::SourceRecord> link_of_url(const std::string& url, const cache::Cache& cache);

/// What is wrong with a linked file; empty: it is what it was. Hashed where it may have changed, or
/// `full`.
std::string link_problem(const cache::SourceRecord& link, bool full);
inline constexpr std::string_view link_remedy =
    "link it again with --link --path, bring it in with --path, or fetch it with --refresh";

/// Is it a URL, as opposed to the name of an asset or a digest?
bool is_url(const std::string& name);

/// Names of assets -> what the cache has of them: their files, and the trees made of them.
std::map<std::string, std::vector<base::Digest>> digests_of_assets(
    const home::Documents& documents, const cache::Cache& cache, const cache::Inventory& inventory);

/// `name` as messages and records may have it: a URL without what may be secret.
std::string displayed_name(const std::string& name);

/// What a digest (whole or its first 8 digits at least), the name of an asset or a URL stands for
/// in the cache. Throws Error{not_found|usage}.
std::vector<base::Digest> digests_called(const std::string& name,
                                         const home::Documents& documents,
                                         const cache::Cache& cache,
                                         const cache::Inventory& inventory);

}  // namespace sabath::assets
