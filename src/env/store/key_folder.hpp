#pragma once

#include "attempt_record.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// Folder beside the attempts with the leases of users.
constexpr std::string_view leases_name = "leases";

/// One attempt found on disk.
struct FoundAttempt {
  AttemptFolder folder{};
  AttemptRecord record{};  ///< from record.json, else from attempt.json
};

/// Returns a linked library, or the base Python, that is missing or not accessible for this user.
std::optional<std::string> missing_library(const std::map<std::string, std::string>& present);

/// Returns true where the last change was before `cut`; false for a missing path.
bool is_older(const std::filesystem::path& path, base::WallTime cut);

/// Folder envs/<kind>/<key>: all attempts to build one layer, and `current`, the link to the valid
/// one. Needs no locks: each attempt has a folder of its own.
class KeyFolder {
 public:
  explicit KeyFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// Returns the name: half of the key, 128 bits. Prefixes appear in "#!" lines, and older kernels
  /// read 127 characters. The record has the whole key.
  static std::string name_of(const base::Digest& key) { return key.hex.substr(0, 32); }

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the attempt of `current`, if it is complete, was built at this place, and has all its
  /// libraries.
  std::optional<FoundAttempt> ready() const;
  /// Returns all attempts with a record, oldest first.
  std::vector<FoundAttempt> attempts() const;

  /// Makes the folder of a new attempt, with an empty prefix and work folder.
  AttemptFolder begin() const;
  /// Makes a finished attempt the current one. Returns false where another was faster.
  bool publish(const AttemptFolder& attempt) const;
  /// Returns folders of attempts without a record and of unfinished images that are a day old:
  /// their builders were killed.
  std::vector<std::filesystem::path> nameless_remains(base::WallTime now) const;
  /// Removes these remains, failed attempts, and attempts of builders that are gone. A builder that
  /// cannot be seen counts as gone `patience` after its start.
  void remove_remains(base::WallTime now, std::chrono::seconds patience) const;
  /// Removes everything, the link first. Throws Error{storage}.
  void remove() const;

 private:
  std::filesystem::path path_;
};

/// Returns the users of a layer: "process 4711". Removes leases of processes that are gone.
std::vector<std::string> lessees(const std::filesystem::path& key_folder, base::WallTime now);

}  // namespace sabath::env
