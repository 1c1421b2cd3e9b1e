#include "fetch_tools.hpp"

#include <sabath/assets/linked_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <sys/stat.h>

namespace sabath::assets {

std::string fingerprint(const struct stat& status) {
  return fmt::format("{}-{}-{}-{}.{:09}-{}.{:09}",
                     status.st_dev,
                     status.st_ino,
                     status.st_size,
                     status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec,
                     status.st_ctim.tv_sec,
                     status.st_ctim.tv_nsec);
}

std::string link_key(const spec::AssetFile& file) {
  const bool has_key = sha256_among(file.digests) || !file.sources.empty();
  return "link:" + (has_key ? partial_key(file) : file.path);
}

std::optional<cache::SourceRecord> link_of(const spec::AssetFile& file, const cache::Cache& cache) {
  auto record = cache.source(link_key(file));
  if (record && record->path.empty()) record.reset();
  return record;
}

std::optional<cache::SourceRecord> link_of_url(const std::string& url, const cache::Cache& cache) {
  return link_of({{}, {}, {}, {url}, {}}, cache);
}

FetchedFile linked_file(const spec::AssetFile& file, const cache::Object& object) {
  FetchedFile linked;
  linked.path = file.path;
  linked.object = object;
  linked.verified = file.digests;
  linked.linked = true;
  return linked;
}

std::string link_problem(const cache::SourceRecord& link, bool full) {
  const std::string since = "was linked on " + link.fetched;
  struct stat status {};
  if (::stat(link.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return since + " and is gone";
  }
  if (!full && fingerprint(status) == link.etag) return {};
  const base::Digest actual = base::digest_file(link.path);
  if (actual == link.digest) return {};
  return since + " and has changed: expected " + link.digest.text() + ", got " + actual.text();
}

std::optional<FetchedFile> find_linked(const spec::AssetFile& file,
                                       const cache::Cache& cache,
                                       bool refresh) {
  const auto record = link_of(file, cache);
  if (!record) return std::nullopt;
  const std::string problem = link_problem(*record, false);
  if (!problem.empty()) {
    if (refresh) return std::nullopt;
    throw base::Error(base::ErrorKind::integrity,
                      "'" + file.path + "': " + base::printable(record->path) + ": " + problem,
                      std::string(link_remedy));
  }
  FetchedFile found = linked_file(file, {record->digest, record->size_bytes, record->path});
  found.was_there = true;
  return found;
}

}  // namespace sabath::assets
