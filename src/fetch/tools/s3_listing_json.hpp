#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

struct S3Object {
  std::string key{};
  std::uint64_t size_bytes = 0;
};

/// Reads `aws s3api list-objects-v2 --query Contents[].{k:Key,s:Size} --output json`, which is null
/// for no object. Throws Error{transfer} for any other text.
std::vector<S3Object> parse_s3_listing(std::string_view text, const std::string& origin);

}  // namespace sabath::fetch
