#include <sabath/app/package_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

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

std::vector<fs::path> bring(const std::vector<env::PinnedFile>& files,
                            const env::Download& download,
                            cache::Cache& cache,
                            base::Observer& observer,
                            const std::stop_token& stop) {
  std::vector<fs::path> paths;
  for (const env::PinnedFile& file : files) {
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

}  // namespace

env::BringFiles bring_through(std::function<cache::Cache&()> cache) {
  return [cache = std::move(cache)](const std::vector<env::PinnedFile>& files,
                                    const env::Download& download,
                                    base::Observer& observer,
                                    std::stop_token stop) {
    return bring(files, download, cache(), observer, stop);
  };
}

}  // namespace sabath::app
