#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Digests of short texts that cannot be guessed without the key (HMAC with SHA-256, RFC 2104).
class KeyedDigest {
 public:
  /// Reads the key from a file that only this user can read, or makes the file with a random key.
  /// Returns nothing where the file cannot be made, is not such a file, or does not hold a key.
  static std::optional<KeyedDigest> with_key_in(const std::filesystem::path& file);

  /// 64 hexadecimal digits. The same for the same key and text.
  std::string of(std::string_view text) const;
  /// Identifies the key without revealing it; 64 hexadecimal digits.
  std::string key_name() const;

 private:
  explicit KeyedDigest(std::string key) : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace sabath::base
