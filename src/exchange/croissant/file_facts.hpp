#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::exchange {

/// Reads a digest by its form: 32, 40, 64 or 128 hexadecimal digits, or base64 of as many bytes.
/// Returns nothing for any other text.
std::optional<base::Digest> digest_by_form(std::string_view text);

/// Reads "1024 B", "4.698 MB", "2 KiB" or "1024" (bytes). Returns nothing for any other text, and
/// for a number of bytes that is not whole.
std::optional<std::uint64_t> size_in(std::string_view text);

/// How a file is packed, by its media type, then by its name: "tar", "zip", "gz", ... or "".
std::string packing_of(std::string_view media_type, std::string_view path);

/// The media type of a file by its suffix; "application/octet-stream" for an unknown one.
std::string media_type_of(std::string_view path);

/// As base::is_private_address.
bool is_private(std::string_view url);

/// The path of a URL or relative reference, decoded, or its last segment. Returns "" where it
/// gives no safe relative path.
std::string decoded_path(std::string_view reference);
std::string last_segment(std::string_view url);

}  // namespace sabath::exchange
