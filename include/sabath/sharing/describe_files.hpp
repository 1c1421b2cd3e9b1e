#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/exchange/imported_asset.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// Something that becomes files of an asset: a file or a folder of this machine.
struct FilePlace {
  std::filesystem::path path{};
  std::string url{};  ///< from which the file came; empty: it lies here
};

/// What nobody can read off files.
struct FileFacts {
  std::string name{};  ///< empty: that of the first place
  spec::AssetKind kind = spec::AssetKind::dataset;
  std::string license{};  ///< an SPDX identifier, a text, or "" for none
  std::string title{};
  std::string version{};
};

/// Describes files as an asset: paths, sizes, digests, where they lie, and the arrays in them as
/// the extension `x-arrays`. Links are left alone. Throws Error{usage} for two files of one path
/// and where there is none; Error{not_found|storage|interrupted}.
exchange::ImportedAsset describe_files(const std::vector<FilePlace>& places,
                                       const FileFacts& facts,
                                       base::Observer& observer,
                                       const std::stop_token& stop);

}  // namespace sabath::sharing
