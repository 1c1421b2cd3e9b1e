#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/text/text_memo.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace sabath::provenance {

/// Whether a path belongs to the operating system, whose loaded files the record has. False
/// for /usr/local.
bool is_of_system(const std::filesystem::path& path);

/// Digests of files. A memo in the user's state folder has those of large files that were not
/// changed since. Thread safety: one thread at a time.
class FileDigests {
 public:
  /// An empty folder disables the memo.
  explicit FileDigests(const std::filesystem::path& state_directory);

  /// Calls `report` with 0 before reading, and after each mebibyte. Throws Error{storage} if the
  /// file cannot be read, and what `report` throws.
  base::Digest of(const std::filesystem::path& file,
                  const std::function<void(std::uint64_t bytes)>& report = {});
  void save() noexcept;

 private:
  std::optional<base::TextMemo> memo_{};
};

}  // namespace sabath::provenance
