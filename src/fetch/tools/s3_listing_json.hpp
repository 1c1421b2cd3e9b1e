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

/// What `aws s3api list-objects-v2 --query Contents[].{k:Key,s:Size} --output json` writes: null
/// where there is nothing. Throws Error{transfer} when it is something else.
std::vector<S3Object> parse_s3_listing(std::string_view text, const std::string& origin);

}  // namespace sabath::fetch
