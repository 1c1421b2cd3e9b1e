#pragma once

#include "terms_json.hpp"

#include <sabath/exchange/croissant.hpp>

#include <nlohmann/json_fwd.hpp>

namespace sabath::exchange {

/// Reads the `distribution` of a Croissant document into the files, or the list, of an asset. Adds
/// notes of what is dropped. Throws Error{usage} for an address that a stranger must not name.
void read_distribution(const nlohmann::json& root,
                       const Terms& terms,
                       const std::string& name,
                       const CroissantOrigin& origin,
                       ImportedAsset& imported);

}  // namespace sabath::exchange
