#include <sabath/base/text/json_reader.hpp>
#include <sabath/exchange/document_kind.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace sabath::exchange {
namespace {

using nlohmann::json;

/// Texts of a value that is a text, or a list of texts and of objects with an "@id".
bool mentions(const json& value, std::string_view word) {
  if (value.is_string()) return value.get_ref<const std::string&>().find(word) != std::string::npos;
  if (value.is_array())
    return std::ranges::any_of(value, [&](const json& item) { return mentions(item, word); });
  return value.is_object() && value.contains("@id") && mentions(value["@id"], word);
}

bool is_croissant(const json& root) {
  for (const char* key : {"conformsTo", "dct:conformsTo"})
    if (root.contains(key) && mentions(root[key], "mlcommons.org/croissant")) return true;
  if (!root.contains("@context") || !root["@context"].is_object()) return false;
  const json& context = root["@context"];
  return std::ranges::any_of(context, [](const json& value) {
    return mentions(value, "mlcommons.org/croissant") || mentions(value, "mlcommons.org/schema");
  });
}

bool is_crate(const json& root) {
  if (!root.contains("@graph") || !root["@graph"].is_array()) return false;
  return std::ranges::any_of(root["@graph"], [](const json& entity) {
    return entity.is_object() && entity.contains("@id") &&
           mentions(entity["@id"], "ro-crate-metadata.json");
  });
}

bool has_hpc_keys(const json& root) {
  return std::ranges::any_of(root.items(),
                             [](const auto& item) { return item.key().starts_with("hpc:"); });
}

}  // namespace

std::optional<DocumentKind> kind_of_document(std::string_view text, const std::string& origin) {
  base::JsonDocument document = base::JsonDocument::parse(text, origin);
  const json& root = document.root().json();
  if (!root.is_object()) return std::nullopt;
  if (is_crate(root)) return DocumentKind::crate;
  if (is_croissant(root)) return DocumentKind::croissant;
  if (has_hpc_keys(root)) return DocumentKind::hpcfair;
  if (root.contains("@context")) return DocumentKind::jsonld;
  const bool is_own = root.contains("schema");
  if (is_own && root.contains("stages")) return DocumentKind::recipe;
  if (is_own && root.contains("entries")) return DocumentKind::baseline;
  if (is_own && root.contains("layers")) return DocumentKind::lock;
  if (is_own && root.contains("kind")) return DocumentKind::asset;
  const bool has_code = root.contains("git") && root["git"].is_object();
  if (root.contains("fragments") || has_code) return DocumentKind::upstream;
  return std::nullopt;
}

}  // namespace sabath::exchange
