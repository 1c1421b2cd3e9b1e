#pragma once

#include <sabath/exchange/document_kind.hpp>
#include <sabath/exchange/imported_asset.hpp>
#include <sabath/exchange/upstream.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/spec/asset.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::sharing {

/// What an import of documents is asked to do.
struct DocumentRequest {
  std::filesystem::path place{};  ///< a file or a folder
  std::string url{};              ///< from which the file came; empty for a local one
  exchange::DocumentKind kind = exchange::DocumentKind::asset;
  std::string name{};                  ///< of the asset, in place of the document's; for one asset
  std::string commit{};                ///< of a model's code
  exchange::CommitLookup commit_of{};  ///< asked where neither `commit` nor the document has one
  bool trusts_form = false;
  bool replaces = false;  ///< an asset of the same name
  bool is_dry = false;    ///< nothing is written
};

/// A document that was made.
struct MadeDocument {
  std::string kind{};  ///< "dataset", "model", "tool" or "recipe"
  std::string name{};
  std::string version{};
  std::filesystem::path path{};
  std::string text{};                  ///< of the document
  bool was_there = false;              ///< with the same text
  std::vector<std::string> notes{};    ///< what was dropped, corrected or kept
  std::vector<std::string> same_as{};  ///< other assets with the same bytes
};

/// Makes documents of assets and recipes in the home: from Croissant, from the Python SABATH, and
/// from own documents. Nothing is written where one of them is refused. Throws Error{usage} for a
/// wrong document, and for a name that is taken by another document; Error{not_found|storage}.
std::vector<MadeDocument> import_documents(const DocumentRequest& request,
                                           const home::Folders& folders,
                                           const home::Documents& documents);

/// Writes the document of an asset into the home, by the same rules. Of the request `replaces`,
/// `is_dry` and `url` count. Throws the same.
MadeDocument keep_asset(exchange::ImportedAsset imported,
                        const DocumentRequest& request,
                        const home::Folders& folders,
                        const home::Documents& documents);

}  // namespace sabath::sharing
