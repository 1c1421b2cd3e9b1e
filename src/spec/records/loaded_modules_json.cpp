#include "loaded_modules_json.hpp"

#include "documents/document_json.hpp"

namespace sabath::spec {

std::string to_text(const LoadedModules& loaded) {
  return document_of(loaded).dump();
}

LoadedModules parse_loaded_modules(std::string_view text, const std::string& origin) {
  return parse_document<LoadedModules>(text, origin);
}

}  // namespace sabath::spec
