#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sabath::cache {

/// The content that a source gave last, or that another key leads to.
struct SourceRecord {
  /// The meaning of `url` and `digest`.
  /// `url`: a URL and its object. `digest`: another digest of an object. `unpacked`: the compressed
  /// file that an object was unpacked from. `link`: a file outside the cache. The others have their
  /// name and ":" first. `tree`: the URL of a tree. `listing`: a URL, and the object with its list.
  /// `files`: the identity of many files, and their tree. `origins`: the name of an asset, and the
  /// object with the origins of its files.
  enum class Kind { url, tree, listing, files, origins, digest, unpacked, link };

  Kind kind = Kind::url;
  std::string url{};
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::string etag{};
  std::string last_modified{};
  std::string fetched{};  ///< RFC 3339
  std::string path{};     ///< of a linked file outside the cache; else empty
};

/// The cached parts of an asset, by its name or URL: all that another fetch of it needs.
struct AssetRecord {
  std::string name{};
  std::vector<base::Digest> digests{};  ///< of objects and trees, sorted
};

/// Outputs of a cached stage, with the run and host that made them.
struct StageOutputs {
  std::string key{};
  std::string run_id{};
  std::string host{};
  std::string made{};                             ///< RFC 3339
  std::map<std::string, base::Digest> outputs{};  ///< declared path -> object
  std::map<std::string, unsigned> modes{};        ///< of those that are executable
  /// Paths and patterns of files that metrics were read from; the files are among the outputs.
  std::vector<std::string> searched{};
  std::vector<std::string> long_logs{};  ///< that are not kept
};

}  // namespace sabath::cache
