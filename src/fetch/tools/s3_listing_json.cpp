#include "s3_listing_json.hpp"

#include <sabath/base/error.hpp>

#include <nlohmann/json.hpp>

namespace sabath::fetch {

std::vector<S3Object> parse_s3_listing(std::string_view text, const std::string& origin) {
  std::vector<S3Object> objects;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return objects;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.is_null()) return objects;
    for (const auto& item : json) {
      objects.push_back({item.at("k").get<std::string>(), item.at("s").get<std::uint64_t>()});
    }
  } catch (const nlohmann::json::exception& error) {
    throw base::Error(base::ErrorKind::transfer,
                      origin + ": aws gave no listing: " + std::string(error.what()));
  }
  return objects;
}

}  // namespace sabath::fetch
