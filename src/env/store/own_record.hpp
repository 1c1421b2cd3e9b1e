#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <filesystem>
#include <optional>
#include <utility>

namespace sabath::env {

/// What a record of our own says, by `read` of its root; nothing where there is none that this
/// version can read. Throws Error{storage}.
template <class Read>
auto read_own_record(const std::filesystem::path& path, Read read)
    -> std::optional<decltype(read(std::declval<base::JsonReader>()))> {
  try {
    const auto text = base::read_file_if_exists(path);
    if (!text) return std::nullopt;
    auto document = base::JsonDocument::parse(*text, path.string());
    auto record = read(document.root());
    document.finish();
    return record;
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::usage) return std::nullopt;
    throw;
  }
}

}  // namespace sabath::env
