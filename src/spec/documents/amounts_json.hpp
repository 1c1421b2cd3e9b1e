#pragma once

#include <sabath/base/text/json_reader.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

// Amounts as people write them.

namespace sabath::spec {

/// A number of bytes, or a text such as "4 GiB"; 0 where the member is missing.
std::uint64_t read_size(base::JsonReader reader);
/// A length of time above 0; nothing where the member is missing.
std::optional<std::chrono::seconds> read_length_of_time(base::JsonReader reader);

}  // namespace sabath::spec
