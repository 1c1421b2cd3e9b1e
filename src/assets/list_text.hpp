#pragma once

#include <sabath/spec/asset.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::assets {

/// The folder that a URL lies in, with its slash: what relative paths of a list begin with.
std::string folder_of_url(const std::string& url);
/// The name at the end of a URL's path, decoded; "download" where it has none that is fit for a
/// file.
std::string name_at_end(const std::string& url);
/// `base` and the relative `path`, which is percent-encoded (RFC 3986, segment by segment).
std::string url_beneath(const std::string& base, const std::string& path);

/// Reads a text with one file a line (docs/formats/asset.md). `base` is what relative paths begin
/// with. Throws Error{integrity} that names lines of `origin` that are neither.
std::vector<spec::AssetFile> parse_list(std::string_view text,
                                        const std::string& origin,
                                        const std::string& base,
                                        std::optional<std::uint64_t> limit);

}  // namespace sabath::assets
