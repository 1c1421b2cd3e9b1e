#pragma once

#include "fetch_tools.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::assets {

/// The content that a source gave last.
struct Origin {
  base::Digest digest{};
  std::string etag{};
  std::string last_modified{};

  bool has_version() const { return !etag.empty() || !last_modified.empty(); }
};

/// A known file, with its version at each source that announced one.
struct KnownFile {
  base::Digest digest{};
  std::vector<fetch::KnownVersion> versions{};
};

/// What the sources of an asset's files gave last, where the document does not say it or the source
/// announced a version. Kept as an object of lines `<sha256 of the URL> <sha256 of the file> <ETag>
/// <Last-Modified>`, so that no URL is stored.
class Origins {
 public:
  static Origins of(const std::string& name, const FetchTools& tools);

  /// Returns the last sha256 of the file, by its first known source.
  std::optional<base::Digest> digest_of(const spec::AssetFile& file) const;
  /// Returns the last content of the file, where the document agrees and a source announced a
  /// version.
  std::optional<KnownFile> known(const spec::AssetFile& file) const;
  /// Replaces what the sources gave. A file that was present keeps its version in `before`.
  void replace(const std::vector<spec::AssetFile>& files,
               const std::vector<FetchedFile>& fetched,
               const Origins& before);
  bool is_empty() const { return origins_.empty(); }
  std::string text() const;
  /// Warns of files with other bytes than before.
  void report_changes(const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools) const;

 private:
  const Origin* find(const std::string& url) const;

  std::string since_{};
  std::map<std::string, Origin> origins_{};  ///< by the URL's digest
};

/// Returns the object with the origins of the asset's files, if there is one.
std::optional<base::Digest> origins_object(const std::string& name, const FetchTools& tools);

/// Stores the origins of the files, unless the document says all of it. With a limit, the origins
/// of other files stay.
void remember_origins(const std::string& name,
                      const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools);

}  // namespace sabath::assets
