#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/text/text_memo.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace sabath::provenance {

/// Is it a file or a folder of the operating system, of which the record has what was loaded? Not
/// what an administrator put into /usr/local.
bool is_of_system(const std::filesystem::path& path);

/// Digests of files. Large ones that were not touched since they were read are known by a memo in
/// the user's state folder. One thread at a time.
class FileDigests {
 public:
  /// Without a folder all are read.
  explicit FileDigests(const std::filesystem::path& state_directory);

  /// `told` is asked before the file is read, with 0, and after each mebibyte. Throws
  /// Error{storage} where it cannot be read, and what `told` throws.
  base::Digest of(const std::filesystem::path& file,
                  const std::function<void(std::uint64_t done)>& told = {});
  void save() noexcept;

 private:
  std::optional<base::TextMemo> memo_{};
};

}  // namespace sabath::provenance
