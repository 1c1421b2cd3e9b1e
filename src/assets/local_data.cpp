#include "local_data.hpp"

#include "fetch_tools.hpp"
#include "known_content.hpp"

#include <sabath/assets/linked_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <cerrno>
#include <string>

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

/// Returns the sha256 of the file. Throws Error{integrity} where it is not as the document says.
Digest checked_digest(const spec::AssetFile& file,
                      const fs::path& path,
                      const struct stat& status) {
  const std::string place = base::printable(path.string());
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file.size_bytes && *file.size_bytes != size_bytes) {
    throw Error(ErrorKind::integrity,
                place + ": has " + std::to_string(size_bytes) + " bytes where '" + file.path +
                    "' has " + std::to_string(*file.size_bytes));
  }
  Digest sha256 = base::digest_file(path);
  for (const Digest& wanted : file.digests) {
    const Digest actual = wanted.algorithm == DigestAlgorithm::sha256
                              ? sha256
                              : base::digest_file(path, wanted.algorithm);
    if (actual != wanted) {
      throw Error(ErrorKind::integrity,
                  place + ": does not match '" + file.path + "': expected " + wanted.text() +
                      ", got " + actual.text());
    }
  }
  return sha256;
}

}  // namespace

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
  const Digest digest = checked_digest(file, absolute, status);
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  FetchedFile taken = linked_file(file, {digest, size_bytes, absolute});
  taken.source = absolute.string();
  if (tools.options.link) {
    tools.remember({.kind = cache::SourceRecord::Kind::link,
                    .url = link_key(file),
                    .digest = digest,
                    .size_bytes = size_bytes,
                    .etag = fingerprint(status),
                    .path = absolute.string()});
    return taken;
  }
  taken.linked = false;
  taken.object = tools.cache.publish_file(absolute);
  if (taken.object.digest != digest) {
    throw Error(ErrorKind::integrity,
                base::printable(absolute.string()) + ": changed while it was copied");
  }
  remember_digests(taken, tools);
  if (!file.sources.empty() && !sha256_among(file.digests)) {
    tools.remember(
        {.url = file.sources.front(), .digest = digest, .size_bytes = taken.object.size_bytes});
  }
  return taken;
}

}  // namespace sabath::assets
