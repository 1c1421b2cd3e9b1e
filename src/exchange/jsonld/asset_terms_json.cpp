#include "jsonld/asset_terms_json.hpp"

#include <sabath/exchange/licences.hpp>

namespace sabath::exchange {

using nlohmann::json;

json extension_of(const spec::Asset& asset, const std::string& name) {
  const auto found = asset.extensions.find("x-" + name);
  return found == asset.extensions.end() ? json(nullptr)
                                         : json::parse(found->second, nullptr, false);
}

std::string licence_term(const spec::Asset& asset) {
  const bool is_spdx = !asset.license.empty() && spdx_id(asset.license) == asset.license;
  return is_spdx ? spdx_url(asset.license) : asset.license;
}

void put_text(json& node, const char* key, const std::string& text) {
  if (!text.empty()) node[key] = text;
}

std::string document_text(const json& root) {
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sabath::exchange
