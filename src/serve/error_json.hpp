#pragma once

#include <sabath/base/error.hpp>
#include <sabath/serve/live_source.hpp>

#include <string>

namespace sabath::serve {

/// {"error": {"message": ..., "hint": ...}}
std::string error_json(const base::Error& error);
/// {"path": ..., "name": ..., "size_bytes": ...}
std::string ticket_json(const std::string& path, const Download& file);
/// {"token": ...}
std::string token_json(const std::string& token);

}  // namespace sabath::serve
