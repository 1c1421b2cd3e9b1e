#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Digests of short texts that nobody can guess who does not have the key (HMAC with SHA-256,
/// RFC 2104).
class KeyedDigest {
 public:
  /// Reads the key from a file that only this user can read, or makes the file with a random key.
  /// Returns nothing where the file cannot be made, is not such a file, or does not hold a key.
  static std::optional<KeyedDigest> with_key_in(const std::filesystem::path& file);

  /// 64 hexadecimal digits. The same for the same key and text.
  std::string of(std::string_view text) const;
  /// Tells keys apart; 64 hexadecimal digits, which do not give the key away.
  std::string key_name() const;

 private:
  explicit KeyedDigest(std::string key) : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace sabath::base
