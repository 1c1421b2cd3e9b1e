#pragma once

#include <sabath/cache/cache.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/asset.hpp>

#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

namespace sabath::assets {

/// Brings files that have URLs, as objects of the cache, in their order.
using FetchFiles =
    std::function<std::vector<cache::Object>(const std::vector<spec::AssetFile>& files)>;

/// Files that environments are locked to, as objects of the cache: what it has is not fetched
/// again, what it lacks is fetched once and published under its digest, by `fetch` where the file
/// has URLs and by `download` where not. A file with URLs and no digest is what they give today.
/// For env::BringFiles.
std::vector<std::filesystem::path> bring_package_files(const std::vector<env::PinnedFile>& files,
                                                       const env::Download& download,
                                                       const FetchFiles& fetch,
                                                       cache::Cache& cache,
                                                       base::Observer& observer,
                                                       const std::stop_token& stop);

/// The same without a network. Throws Error{not_found} that names what the cache lacks.
std::vector<std::filesystem::path> find_package_files(const std::vector<env::PinnedFile>& files,
                                                      cache::Cache& cache);

}  // namespace sabath::assets
