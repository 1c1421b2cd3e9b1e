#include <sabath/app/package_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text_table.hpp>

#include <optional>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;

/// Downloads beside the cache's own files, so that publishing shares their blocks where it can.
void fetch_one(const env::PinnedFile& file, const env::Download& download, cache::Cache& cache) {
  const fs::path partial = cache.root() / "partial" / "packages";
  base::make_directories(partial);
  const base::TempDir folder(partial);
  const cache::Object object = cache.publish_file(download(file, folder.path()));
  if (object.digest == file.digest) return;
  throw base::Error(base::ErrorKind::integrity,
                    file.name + ": was locked as " + file.digest.text() + ", the index gave " +
                        object.digest.text(),
                    "somebody replaced the file, or edited the lock");
}

/// Those that a lock has URLs for, all in one go and in their order.
std::vector<cache::Object> fetch_by_url(const std::vector<env::PinnedFile>& files,
                                        const FetchFiles& fetch) {
  std::vector<spec::AssetFile> wanted;
  for (const env::PinnedFile& file : files) {
    if (file.urls.empty()) continue;
    wanted.push_back({file.name, {}, {}, file.urls, {}});
    if (!file.digest.hex.empty()) wanted.back().digests = {file.digest};
  }
  if (wanted.empty()) return {};
  return fetch(wanted);
}

}  // namespace

std::vector<fs::path> bring_package_files(const std::vector<env::PinnedFile>& files,
                                          const env::Download& download,
                                          const FetchFiles& fetch,
                                          cache::Cache& cache,
                                          base::Observer& observer,
                                          const std::stop_token& stop) {
  const std::vector<cache::Object> fetched = fetch_by_url(files, fetch);
  auto next = fetched.begin();
  std::vector<fs::path> paths;
  for (const env::PinnedFile& file : files) {
    if (!file.urls.empty()) {
      paths.push_back((next++)->path);
      continue;
    }
    std::optional<cache::Object> object;
    const cache::Flight flight{"fetching " + file.what,
                               [&] { return (object = cache.find(file.digest)).has_value(); },
                               [&](base::Observer&) { fetch_one(file, download, cache); }};
    cache.single_flight("package:" + file.digest.text(), flight, observer, stop);
    if (!object) object = cache.find(file.digest);
    if (!object) {
      throw base::Error(base::ErrorKind::storage,
                        file.name + ": went from the cache as soon as it was fetched");
    }
    paths.push_back(object->path);
  }
  return paths;
}

std::vector<fs::path> find_package_files(const std::vector<env::PinnedFile>& files,
                                         cache::Cache& cache) {
  std::vector<fs::path> paths;
  std::string missing;
  for (const env::PinnedFile& file : files) {
    if (const auto object = cache.find(file.digest)) {
      paths.push_back(object->path);
    } else {
      missing += (missing.empty() ? "" : ", ") + file.name;
    }
  }
  if (missing.empty()) return paths;
  throw base::Error(base::ErrorKind::not_found,
                    "environment: not in the cache: " + base::printable(missing),
                    "without --offline they are fetched; 'sabath env fetch RECIPE' brings them "
                    "before the network goes");
}

}  // namespace sabath::app
