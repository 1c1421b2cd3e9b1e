#include <sabath/assets/fetch_packages.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::assets {
namespace {

namespace fs = std::filesystem;

/// A package manager takes a second to start, and loses its files when it is interrupted.
constexpr std::size_t files_a_download = 16;

/// Downloads into the cache's file system, so that publishing can share blocks.
void fetch_some(const std::vector<env::PinnedFile>& files,
                const env::Download& download,
                cache::Cache& cache) {
  const fs::path partial = cache.root() / "partial" / "packages";
  base::make_directories(partial);
  const base::TempDir folder(partial);
  const std::vector<fs::path> brought = download(files, folder.path());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const cache::Object object = cache.publish_file(brought[i]);
    if (object.digest == files[i].digest) continue;
    throw base::Error(base::ErrorKind::integrity,
                      files[i].name + ": was locked as " + files[i].digest.text() +
                          ", the index gave " + object.digest.text(),
                      "somebody replaced the file, or edited the lock");
  }
}

/// Fetches all files in one flight. When one fails, a package manager keeps none: then fetches each
/// file on its own.
void fetch_together(const std::vector<env::PinnedFile>& files,
                    const env::Download& download,
                    cache::Cache& cache,
                    base::Observer& observer,
                    const std::stop_token& stop) {
  const cache::Flight flight{
      "fetching " + files.front().what + (files.size() == 1 ? "" : " and others"),
      [&] {
        return std::ranges::all_of(
            files, [&](const auto& file) { return cache.find(file.digest).has_value(); });
      },
      [&](base::Observer&) { fetch_some(files, download, cache); }};
  try {
    cache.single_flight("packages:" + files.front().digest.text(), flight, observer, stop);
  } catch (const base::Error& error) {
    const bool is_theirs = error.kind() == base::ErrorKind::transfer ||
                           error.kind() == base::ErrorKind::integrity ||
                           error.kind() == base::ErrorKind::environment;
    if (files.size() == 1 || !is_theirs) throw;
    observer.note("fetching " + std::to_string(files.size()) +
                  " files at once failed: each is fetched on its own");
    for (const env::PinnedFile& file : files)
      fetch_together({file}, download, cache, observer, stop);
  }
}

/// Fetches the missing files without a URL.
void fetch_missing(const std::vector<env::PinnedFile>& files,
                   const env::Download& download,
                   cache::Cache& cache,
                   base::Observer& observer,
                   const std::stop_token& stop) {
  std::vector<env::PinnedFile> missing;
  for (const env::PinnedFile& file : files) {
    if (file.urls.empty() && !cache.find(file.digest)) missing.push_back(file);
  }
  for (auto from = missing.begin(); from != missing.end();) {
    const auto left = static_cast<std::size_t>(missing.end() - from);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(files_a_download, left));
    fetch_together({from, to}, download, cache, observer, stop);
    from = to;
  }
}

/// Fetches the files with URLs, all at once and in their order.
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

std::vector<fs::path> fetch_package_files(const std::vector<env::PinnedFile>& files,
                                          const env::Download& download,
                                          const FetchFiles& fetch,
                                          cache::Cache& cache,
                                          base::Observer& observer,
                                          const std::stop_token& stop) {
  const std::vector<cache::Object> fetched = fetch_by_url(files, fetch);
  fetch_missing(files, download, cache, observer, stop);
  auto next = fetched.begin();
  std::vector<fs::path> paths;
  for (const env::PinnedFile& file : files) {
    if (!file.urls.empty()) {
      paths.push_back((next++)->path);
      continue;
    }
    const auto object = cache.find(file.digest);
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

}  // namespace sabath::assets
