#pragma once

#include <filesystem>

namespace sabath::execution {

/// Is it an empty file, or an archive (zip, or tar by its name, packed or not) without a member?
/// Two of these agree in nothing. Throws Error{not_found|storage}.
bool holds_nothing(const std::filesystem::path& path);

}  // namespace sabath::execution
