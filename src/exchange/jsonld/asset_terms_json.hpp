#pragma once

#include <sabath/spec/asset.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace sabath::exchange {

/// A member "x-NAME" of an asset, as it was written; null for none.
nlohmann::json extension_of(const spec::Asset& asset, const std::string& name);
/// The address of the licence, or its text; "" for none.
std::string licence_term(const spec::Asset& asset);
void put_text(nlohmann::json& node, const char* key, const std::string& text);
/// The text of a document: sorted keys, two blanks, a final newline.
std::string document_text(const nlohmann::json& root);

}  // namespace sabath::exchange
