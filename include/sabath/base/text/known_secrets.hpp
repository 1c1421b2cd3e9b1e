#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Secrets whose exact text is known, to be masked where others may read.
class KnownSecrets {
 public:
  /// Values of fewer than 8 characters are left out: they would be found where they mean nothing.
  /// Of each its form in URLs (percent-encoded) is known too.
  explicit KnownSecrets(const std::vector<std::string>& values);

  bool empty() const noexcept { return values_.empty(); }
  /// Puts as many '*' in the place of each secret in the file, so that every other byte stays where
  /// it is; the number of places. A file that is not there has none; a link is not followed. Throws
  /// Error{storage}.
  std::uint64_t mask_file(const std::filesystem::path& file) const;

 private:
  std::uint64_t mask(std::string& text) const;

  std::vector<std::string> values_{};  ///< the longest first
  std::size_t longest_ = 0;
};

}  // namespace sabath::base
