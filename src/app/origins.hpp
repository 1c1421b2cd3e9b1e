#pragma once

#include "fetch_tools.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::app {

/// What the sources of an asset's files gave the last time, where the document does not say it:
/// an object of lines `<sha256 of the URL> <sha256 of the file>`, so that no URL is kept.
class Origins {
 public:
  /// Empty where nothing is known.
  static Origins of(const std::string& name, const FetchTools& tools);

  /// The sha256 that the file had then, by the first of its sources that is known.
  std::optional<base::Digest> digest_of(const spec::AssetFile& file) const;
  /// From now on that is what the sources gave of those files of which the document does not say
  /// it.
  void replace(const std::vector<spec::AssetFile>& files, const std::vector<FetchedFile>& fetched);
  std::string text() const;
  /// Says which files have other bytes than then, if any.
  void tell_changes(const std::vector<spec::AssetFile>& files,
                    const std::vector<FetchedFile>& fetched,
                    const FetchTools& tools) const;

 private:
  std::string since_{};
  std::map<std::string, base::Digest> digests_{};  ///< by the URL's digest
};

/// The object with the origins of the asset's files; nothing where there is none.
std::optional<base::Digest> origins_object(const std::string& name, const FetchTools& tools);

/// Keeps what the files were, unless the document says it of all of them. With a limit, what is
/// known of other files of the asset stays.
void remember_origins(const std::string& name,
                      const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools);

}  // namespace sabath::app
