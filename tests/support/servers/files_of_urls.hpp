#pragma once

#include <sabath/base/file.hpp>

#include <filesystem>
#include <string>

namespace sabath::test {

/// "100%25%20sure" -> "100% sure".
inline std::string decoded(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size();
    result +=
        is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (is_escape) i += 2;
  }
  return result;
}

/// Writes a served file whose name is percent-encoded in its URL.
inline void put_file(const std::filesystem::path& folder,
                     const std::string& name,
                     const std::string& content) {
  const auto path = folder / decoded(name);
  base::make_directories(path.parent_path());
  base::write_file_atomically(path, content, base::Durability::ordered_only);
}

}  // namespace sabath::test
