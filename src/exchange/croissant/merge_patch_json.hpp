#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sabath::exchange {

/// The JSON merge patch (RFC 7396) that makes `to` of `from`.
nlohmann::json merge_patch_of(const nlohmann::json& from, const nlohmann::json& to);

}  // namespace sabath::exchange
