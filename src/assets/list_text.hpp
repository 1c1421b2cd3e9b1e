#pragma once

#include <sabath/spec/asset.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::assets {

/// Returns the folder of a URL, with its slash: the base of relative paths of a list.
std::string folder_of_url(const std::string& url);
/// Returns the decoded name at the end of a URL's path; "download" where no file can have it.
std::string name_at_end(const std::string& url);
/// Joins `base` and the relative `path`, percent-encoded by segment (RFC 3986).
std::string url_beneath(const std::string& base, const std::string& path);

/// Reads a text with one file a line (docs/formats/asset.md). Relative paths are beneath `base`.
/// Throws Error{integrity} with the first invalid lines of `origin`.
std::vector<spec::AssetFile> parse_list(std::string_view text,
                                        const std::string& origin,
                                        const std::string& base,
                                        std::optional<std::uint64_t> limit);

}  // namespace sabath::assets
