#pragma once

#include <sabath/sharing/import_documents.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::cli {

class Workspace;

/// The file behind an address, in the cache.
std::filesystem::path fetched_document(const std::string& url, Workspace& workspace);

/// Lines about documents that were made, or would be.
std::string documents_text(const std::vector<sharing::MadeDocument>& made, bool is_dry);

}  // namespace sabath::cli
