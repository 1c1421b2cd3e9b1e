#include "fetch_one.hpp"
#include "known_content.hpp"

#include <sabath/assets/keep_cache.hpp>
#include <sabath/assets/local_data.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <cerrno>

#include <sys/stat.h>

namespace sabath::assets {
namespace {

namespace fs = std::filesystem;
using base::Digest;
using base::DigestAlgorithm;
using base::Error;
using base::ErrorKind;

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) base::throw_errno(path.string(), "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::usage, base::printable(path.string()) + ": is not a file");
  }
  return status;
}

std::string link_key(const spec::AssetFile& file) {
  const bool has_key = sha256_among(file.digests) || !file.sources.empty();
  return "link:" + (has_key ? staging_key(file) : file.path);
}

/// The digests of the file, of which those in the document must hold. The first is its sha256.
std::vector<Digest> checked_digests(const spec::AssetFile& file,
                                    const fs::path& path,
                                    const struct stat& status) {
  const std::string place = base::printable(path.string());
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file.size_bytes && *file.size_bytes != size_bytes) {
    throw Error(ErrorKind::integrity,
                place + ": has " + std::to_string(size_bytes) + " bytes where '" + file.path +
                    "' has " + std::to_string(*file.size_bytes));
  }
  std::vector<Digest> digests{base::digest_file(path)};
  for (const Digest& wanted : file.digests) {
    const Digest actual = wanted.algorithm == DigestAlgorithm::sha256
                              ? digests.front()
                              : base::digest_file(path, wanted.algorithm);
    if (actual != wanted) {
      throw Error(ErrorKind::integrity,
                  place + ": does not match '" + file.path + "': expected " + wanted.text() +
                      ", got " + actual.text());
    }
  }
  return digests;
}

FetchedFile linked_file(const spec::AssetFile& file,
                        const Digest& digest,
                        std::uint64_t size_bytes,
                        const fs::path& path) {
  FetchedFile linked;
  linked.path = file.path;
  linked.object = {digest, size_bytes, path};
  linked.verified = file.digests;
  linked.linked = true;
  return linked;
}

}  // namespace

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

fs::path local_path(const spec::AssetFile& file, std::size_t files, const FetchTools& tools) {
  const fs::path& local = tools.options.local;
  std::error_code code;
  if (fs::is_directory(local, code)) return local / file.path;
  if (files == 1) return local;
  throw Error(ErrorKind::usage,
              base::printable(local.string()) + ": is not a folder, and the asset has " +
                  std::to_string(files) + " files",
              "give --path the folder that holds them");
}

FetchedFile take_local(const spec::AssetFile& file, const fs::path& path, const FetchTools& tools) {
  const fs::path absolute = fs::absolute(path).lexically_normal();
  const struct stat status = status_of(absolute);
  const Digest digest = checked_digests(file, absolute, status).front();
  if (!tools.options.link) {
    FetchedFile taken = linked_file(file, digest, 0, {});
    taken.object = tools.cache.publish_file(absolute);
    if (taken.object.digest != digest) {
      throw Error(ErrorKind::integrity,
                  base::printable(absolute.string()) + ": changed while it was copied");
    }
    taken.linked = false;
    taken.source = absolute.string();
    remember_digests(taken, tools);
    if (!file.sources.empty() && !sha256_among(file.digests)) {
      cache::SourceRecord record;
      record.url = file.sources.front();
      record.digest = digest;
      record.size_bytes = taken.object.size_bytes;
      record.fetched = base::format_rfc3339(tools.clock.now());
      tools.cache.remember_source(record);
    }
    return taken;
  }
  cache::SourceRecord record;
  record.kind = cache::SourceRecord::Kind::link;
  record.url = link_key(file);
  record.digest = digest;
  record.size_bytes = static_cast<std::uint64_t>(status.st_size);
  record.etag = fingerprint(status);
  record.path = absolute.string();
  record.fetched = base::format_rfc3339(tools.clock.now());
  tools.cache.remember_source(record);
  FetchedFile linked = linked_file(file, digest, record.size_bytes, absolute);
  linked.source = absolute.string();
  return linked;
}

std::optional<cache::SourceRecord> link_of(const spec::AssetFile& file, const cache::Cache& cache) {
  auto record = cache.source(link_key(file));
  if (record && record->path.empty()) record.reset();
  return record;
}

std::string link_problem(const cache::SourceRecord& link, bool full) {
  const std::string since = "was linked on " + link.fetched;
  struct stat status {};
  if (::stat(link.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return since + " and is gone";
  }
  if (!full && fingerprint(status) == link.etag) return {};
  const Digest actual = base::digest_file(link.path);
  if (actual == link.digest) return {};
  return since + " and has changed: expected " + link.digest.text() + ", got " + actual.text();
}

std::optional<FetchedFile> find_linked(const spec::AssetFile& file, const FetchTools& tools) {
  const auto record = link_of(file, tools.cache);
  if (!record) return std::nullopt;
  const std::string problem = link_problem(*record, false);
  if (!problem.empty()) {
    if (tools.options.refresh) return std::nullopt;
    throw Error(ErrorKind::integrity,
                "'" + file.path + "': " + base::printable(record->path) + ": " + problem,
                std::string(link_remedy));
  }
  FetchedFile found = linked_file(file, record->digest, record->size_bytes, record->path);
  found.was_there = true;
  return found;
}

}  // namespace sabath::assets
