#pragma once

#include <sabath/cache/cache.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/asset.hpp>

#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

namespace sabath::assets {

/// Fetches files with URLs as objects of the cache, in their order.
using FetchFiles =
    std::function<std::vector<cache::Object>(const std::vector<spec::AssetFile>& files)>;

/// Returns locked files of environments as objects of the cache, for env::BringFiles. Fetches only
/// missing files: with `fetch` where a file has URLs, else with `download`. A file with URLs and
/// without a digest is what they give today.
std::vector<std::filesystem::path> fetch_package_files(const std::vector<env::PinnedFile>& files,
                                                       const env::Download& download,
                                                       const FetchFiles& fetch,
                                                       cache::Cache& cache,
                                                       base::Observer& observer,
                                                       const std::stop_token& stop);

/// As `fetch_package_files`, without a network. Throws Error{not_found} with the missing files.
std::vector<std::filesystem::path> find_package_files(const std::vector<env::PinnedFile>& files,
                                                      cache::Cache& cache);

}  // namespace sabath::assets
