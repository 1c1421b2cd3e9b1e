#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// This user's own notes on which files were found right, one small file for each: its content is
/// the fingerprint that the file had then. Only an exactly equal fingerprint vouches, so a note
/// that was half written, by a crash or by two processes, vouches for nothing. Notes are an
/// accelerator: where they cannot be kept, or where others could write them, everything is hashed
/// each time.
class Memo {
 public:
  Memo(const std::filesystem::path& private_directory, const std::filesystem::path& cache_root);

  bool vouches(const std::filesystem::path& name, std::string_view fingerprint) const;
  void remember(const std::filesystem::path& name, std::string_view fingerprint) const;
  void forget(const std::filesystem::path& name) const;

 private:
  bool is_private() const;

  std::filesystem::path folder_;            ///< of this one cache
  mutable std::optional<bool> is_private_;  ///< once the folder exists
};

}  // namespace sabath::cache
