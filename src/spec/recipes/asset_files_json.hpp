#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/asset.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

// Where an asset's bytes come from: the keys "files", "list", "manifest", "base" and "limit".

namespace sabath::spec {

bool is_hexadecimal(std::string_view text);
void check_url(const std::string& url, const base::JsonReader& reader);

/// Reads them into `asset`, whose access, withdrawal and generator are known; notes where the
/// origin of the bytes is said twice, or not at all.
void read_origin(Asset& asset, base::JsonReader& root);
void put_origin(nlohmann::ordered_json& json, const Asset& asset);

template <class T>
void put(nlohmann::ordered_json& json, const char* key, const T& value) {
  if (!value.empty()) json[key] = value;
}

}  // namespace sabath::spec
