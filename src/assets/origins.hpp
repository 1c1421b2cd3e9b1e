#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::assets {

/// What a source gave the last time.
struct Origin {
  base::Digest digest{};
  std::string etag{};
  std::string last_modified{};

  bool tells_version() const { return !etag.empty() || !last_modified.empty(); }
};

/// What is here of a file, with the versions that some of its sources called it.
struct KnownFile {
  base::Digest digest{};
  std::vector<fetch::KnownVersion> versions{};
};

/// What the sources of an asset's files gave the last time, where the document does not say it or
/// they told a version: an object of lines `<sha256 of the URL> <sha256 of the file> <ETag>
/// <Last-Modified>`, so that no URL is kept.
class Origins {
 public:
  /// Empty where nothing is known.
  static Origins of(const std::string& name, const FetchTools& tools);

  /// The sha256 that the file had then, by the first of its sources that is known.
  std::optional<base::Digest> digest_of(const spec::AssetFile& file) const;
  /// The file as it was then, where the document wants no other bytes and a source told the
  /// version.
  std::optional<KnownFile> known(const spec::AssetFile& file) const;
  /// From now on that is what the sources gave. What was there already came in the version that
  /// `before` knows.
  void replace(const std::vector<spec::AssetFile>& files,
               const std::vector<FetchedFile>& fetched,
               const Origins& before);
  bool is_empty() const { return origins_.empty(); }
  std::string text() const;
  /// Says which files have other bytes than then, if any.
  void tell_changes(const std::vector<spec::AssetFile>& files,
                    const std::vector<FetchedFile>& fetched,
                    const FetchTools& tools) const;

 private:
  const Origin* find(const std::string& url) const;

  std::string since_{};
  std::map<std::string, Origin> origins_{};  ///< by the URL's digest
};

/// The object with the origins of the asset's files; nothing where there is none.
std::optional<base::Digest> origins_object(const std::string& name, const FetchTools& tools);

/// Keeps what the files were, unless there is nothing that the document does not say. With a limit,
/// what is known of other files of the asset stays.
void remember_origins(const std::string& name,
                      const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools);

}  // namespace sabath::assets
