#pragma once

#include <filesystem>

namespace sabath::test {

/// Writes a self-signed certificate for 127.0.0.1 and its key, both as PEM.
void make_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key);

}  // namespace sabath::test
