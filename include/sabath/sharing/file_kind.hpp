#pragma once

#include <sabath/exchange/document_kind.hpp>

#include <filesystem>

namespace sabath::sharing {

/// Recognises a file or a folder by its content. A zip file is a crate, and so is a folder with
/// `ro-crate-metadata.json`. A JSON document is what its members say. Any other text is a table. A
/// folder with documents of the Python SABATH is `upstream`. Throws Error{not_found} where nothing
/// is there, Error{usage} for what is not recognised.
exchange::DocumentKind kind_of_file(const std::filesystem::path& path);

}  // namespace sabath::sharing
