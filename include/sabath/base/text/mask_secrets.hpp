#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Secrets whose exact text is known; masks them in files that others may read.
class KnownSecrets {
 public:
  /// Ignores values of fewer than 8 characters, which also occur in harmless text. Includes the
  /// percent-encoded form of each value.
  explicit KnownSecrets(const std::vector<std::string>& values);

  bool empty() const noexcept { return values_.empty(); }
  /// Whether the text has one of them.
  bool are_in(std::string_view text) const;
  /// The text with '*' in place of each character of a secret.
  std::string masked(std::string text) const;
  /// Overwrites each secret in the file with '*', without moving other bytes. Returns the number of
  /// places; 0 for a missing file. Does not follow a link. Throws Error{storage}.
  std::uint64_t mask_file(const std::filesystem::path& file) const;

 private:
  std::uint64_t mask(std::string& text) const;

  std::vector<std::string> values_{};  ///< the longest first
  std::size_t longest_ = 0;
};

}  // namespace sabath::base
