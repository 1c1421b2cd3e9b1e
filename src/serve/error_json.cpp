#include "error_json.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::serve {

using nlohmann::ordered_json;

std::string error_json(const base::Error& error) {
  ordered_json fields{{"message", error.what()}};
  if (!error.hint().empty()) fields["hint"] = error.hint();
  return base::compact_json({{"error", std::move(fields)}});
}

std::string ticket_json(const std::string& path, const Download& file) {
  return base::compact_json({{"path", path}, {"name", file.name}, {"size_bytes", file.size_bytes}});
}

std::string token_json(const std::string& token) {
  return base::compact_json(ordered_json{{"token", token}});
}

}  // namespace sabath::serve
