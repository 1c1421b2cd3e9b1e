#include <sabath/app/fetch_assets.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text_table.hpp>

#include <algorithm>

namespace sabath::app {
namespace {

using base::Digest;
using base::DigestAlgorithm;
using base::Error;
using base::ErrorKind;

const Digest* sha256_among(const std::vector<Digest>& digests) {
  const auto found = std::find_if(digests.begin(), digests.end(), [](const Digest& digest) {
    return digest.algorithm == DigestAlgorithm::sha256;
  });
  return found == digests.end() ? nullptr : &*found;
}

/// What a file is fetched under: its bytes' identity where it is known, else its first source.
std::string staging_key(const spec::AssetFile& file) {
  const Digest* digest = sha256_among(file.digests);
  return digest != nullptr ? digest->hex : base::sha256_of(file.sources.front()).hex;
}

std::string last_segment(const std::string& url) {
  const std::string path = url.substr(0, url.find_first_of("?#"));
  const auto slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.empty() ? "download" : name;
}

[[noreturn]] void throw_no_access(const spec::Asset& asset) {
  std::string steps;
  for (const std::string& step : asset.access.steps)
    steps += (steps.empty() ? "" : "\n") + step;
  throw Error(ErrorKind::access,
              "asset '" + asset.name + "': a login is needed to fetch it",
              steps.empty() ? "see " + asset.homepage : steps);
}

}  // namespace

AssetFetcher::AssetFetcher(cache::Cache& cache,
                           const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
                           base::Clock& clock,
                           Generate generate)
    : cache_(cache), fetchers_(fetchers), clock_(clock), generate_(std::move(generate)) {}

std::optional<FetchedFile> AssetFetcher::find_known(const spec::AssetFile& file,
                                                    const FetchOptions& options) {
  if (options.refresh) return std::nullopt;
  std::optional<Digest> wanted;
  if (const Digest* digest = sha256_among(file.digests)) wanted = *digest;
  for (const std::string& url : file.sources) {
    if (wanted) break;
    if (const auto pinned = cache_.source(url)) wanted = pinned->digest;
  }
  if (!wanted) return std::nullopt;
  const auto object = cache_.find(*wanted);
  if (!object) return std::nullopt;
  FetchedFile found{file.path, *object, true, {}, 0, {}};
  for (const Digest& digest : file.digests) {
    const bool holds = digest.algorithm == DigestAlgorithm::sha256
                           ? digest == object->digest
                           : digest == base::digest_file(object->path, digest.algorithm);
    if (!holds) {
      throw Error(ErrorKind::integrity,
                  file.path + ": expected " + digest.text() + ", but the object in the cache is " +
                      object->digest.text(),
                  "the document contradicts what its source gave before; --refresh asks it again");
    }
    found.verified.push_back(digest);
  }
  return found;
}

FetchedFile AssetFetcher::fetch_file(const spec::AssetFile& file,
                                     const FetchOptions& options,
                                     base::Observer& observer,
                                     std::stop_token stop) {
  if (auto known = find_known(file, options)) return *known;
  std::vector<Digest> expected = file.digests;
  std::optional<cache::SourceRecord> pinned;
  for (const std::string& url : file.sources) {
    if (!pinned && sha256_among(expected) == nullptr) pinned = cache_.source(url);
  }
  if (pinned && !options.refresh) expected.push_back(pinned->digest);
  const fetch::Request request{file.sources, file.size_bytes, expected, {}};
  auto staging = cache_.stage(staging_key(file), expected);
  const fetch::Outcome outcome =
      fetch::fetch_file(request, fetchers_, *staging, options.retries, clock_, observer, stop);
  if (!outcome.ok) {
    ErrorKind kind = outcome.not_found ? ErrorKind::not_found : ErrorKind::transfer;
    if (outcome.access_needed) kind = ErrorKind::access;
    throw Error(kind, outcome.problem, outcome.hint);
  }
  FetchedFile fetched{file.path, {}, false, outcome.url, outcome.transferred, file.digests};
  try {
    fetched.object = cache_.publish(std::move(staging), expected);
  } catch (const Error& error) {
    throw Error(error.kind(), outcome.url + ": " + error.what(), error.hint());
  }
  if (pinned && pinned->digest != fetched.object.digest) {
    observer.warn(outcome.url + ": other bytes than on " + pinned->fetched + ": " +
                  fetched.object.digest.text() + " instead of " + pinned->digest.text());
  }
  cache_.remember_source({outcome.url,
                          fetched.object.digest,
                          fetched.object.size_bytes,
                          outcome.etag,
                          outcome.last_modified,
                          base::format_rfc3339(clock_.now())});
  return fetched;
}

FetchedFile AssetFetcher::fetch_url(const std::string& url,
                                    const std::vector<Digest>& digests,
                                    const FetchOptions& options,
                                    base::Observer& observer,
                                    std::stop_token stop) {
  return fetch_file({last_segment(url), {}, digests, {url}, {}}, options, observer, stop);
}

cache::Tree AssetFetcher::unpack_or_gather(const spec::Asset& asset,
                                           const std::vector<FetchedFile>& files,
                                           base::Observer& observer,
                                           std::stop_token stop) {
  const auto packed = [](const spec::AssetFile& file) { return !file.unpack.empty(); };
  if (std::none_of(asset.files.begin(), asset.files.end(), packed)) {
    std::map<std::string, cache::Object> tree;
    for (const FetchedFile& file : files)
      tree.emplace(file.path, file.object);
    return cache_.publish_tree(tree);
  }
  if (asset.files.size() > 1) {
    throw Error(ErrorKind::usage,
                "asset '" + asset.name + "': an archive to unpack must be its only file",
                "describe each archive as an asset of its own");
  }
  observer.note("unpacking " + asset.files.front().path);
  return cache_.publish_archive(files.front().object, asset.files.front().unpack, observer, stop);
}

FetchedAsset AssetFetcher::fetch(const spec::Asset& asset,
                                 const FetchOptions& options,
                                 base::Observer& observer,
                                 std::stop_token stop) {
  FetchedAsset fetched{asset.name, asset.version, {}, {}, {}, {}, {}};
  if (asset.generate) {
    const Generated made = generate_(asset);
    for (const auto& [path, object] : made.files) {
      fetched.files.push_back({path, object, false, {}, 0, {}});
    }
    fetched.made_by_run = made.run_id;
    fetched.made_on_host = made.host;
    const cache::Tree tree = cache_.publish_tree(made.files);
    fetched.digest = tree.digest;
    fetched.path = tree.path;
    return fetched;
  }
  if (!asset.withdrawn.empty()) {
    throw Error(ErrorKind::not_found, "asset '" + asset.name + "': withdrawn: " + asset.withdrawn);
  }
  if (asset.files.empty()) {
    throw Error(ErrorKind::not_found, "asset '" + asset.name + "': it has no files to fetch");
  }
  for (const spec::AssetFile& file : asset.files) {
    if (asset.access.policy == "login" && !find_known(file, {})) throw_no_access(asset);
    fetched.files.push_back(fetch_file(file, options, observer, stop));
  }
  const cache::Tree tree = unpack_or_gather(asset, fetched.files, observer, stop);
  fetched.digest = tree.digest;
  fetched.path = tree.path;
  return fetched;
}

}  // namespace sabath::app
