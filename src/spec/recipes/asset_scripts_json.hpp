#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/asset.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace sabath::spec {

/// "scripts" of an asset, with the references between them.
std::vector<AssetScript> read_scripts(base::JsonReader reader);
nlohmann::ordered_json json_of(const AssetScript& script);

}  // namespace sabath::spec
