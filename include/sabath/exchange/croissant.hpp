#pragma once

#include <sabath/exchange/imported_asset.hpp>
#include <sabath/spec/asset.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::exchange {

/// What the text of a Croissant document does not say of itself.
struct CroissantOrigin {
  /// The document's folder as a URL that ends with '/'. Empty: relative addresses are errors.
  std::string folder_url{};
  /// The document lies on this machine: it may name files and private addresses.
  bool is_local = false;
  /// A digest under the wrong name is taken for what its length says.
  bool trusts_form = false;
  /// Returns paths of files beneath the document's folder that a glob pattern matches.
  std::function<std::vector<std::string>(const std::string& pattern)> local_files{};
  /// Returns how a file beneath the document's folder is packed, by its bytes: "tar", "zip", "gz",
  /// "bz2", "xz", "zst" or "".
  std::function<std::string(const std::string& path)> local_packing{};
};

/// How a file is packed, by its first 512 bytes: "tar", "zip", "gz", "bz2", "xz", "zst" or "". A
/// tar within a compressed file is not seen.
std::string packing_of_bytes(std::string_view begin);

/// Reads a Croissant document, 1.0 or 1.1. `name` begins messages. Contexts are never fetched. The
/// document is kept in the extension `x-croissant`, so that an export gives it back. Throws
/// Error{usage} for a text that is not such a document, and for one from elsewhere that names files
/// of this machine or private addresses.
ImportedAsset read_croissant(std::string_view text,
                             const std::string& name,
                             const CroissantOrigin& origin);

/// What a complete Croissant document needs and an asset does not say: one sentence each.
std::vector<std::string> missing_for_croissant(const spec::Asset& asset);

/// An asset as a Croissant 1.1 document: the same bytes for the same asset. Reading it gives the
/// asset back. Terms of `x-croissant` are kept. What is missing is listed in the document.
std::string write_croissant(const spec::Asset& asset);

}  // namespace sabath::exchange
