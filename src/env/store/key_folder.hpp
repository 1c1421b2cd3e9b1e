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

/// Beside the attempts: who uses the layer.
constexpr std::string_view leases_name = "leases";
/// Of the folder in an attempt's in which an image is made.
constexpr std::string_view packing_beginning = ".pack-";

/// Where the things of one attempt lie.
struct AttemptFolder {
  std::filesystem::path path{};

  std::filesystem::path prefix() const { return path / "prefix"; }
  std::filesystem::path work() const { return path / "work"; }
  std::filesystem::path log() const { return path / "build.log"; }
  std::filesystem::path beginning() const { return path / "attempt.json"; }
  std::filesystem::path record() const { return path / "record.json"; }
};

/// One attempt that was found on disk.
struct FoundAttempt {
  AttemptFolder folder{};
  AttemptRecord record{};  ///< what record.json says, else attempt.json
};

/// A shared library that the layer is linked with, or the Python that it was made of, where that is
/// not there any more, or not for this user.
std::optional<std::string> missing_library(const std::map<std::string, std::string>& present);

/// Was it changed last before `cut`? False for what is not there.
bool is_older(const std::filesystem::path& path, base::WallTime cut);

/// envs/<kind>/<key>: all attempts to build one layer, and `current`, the link to the one that
/// counts. No locks: every attempt has a folder of its own.
class KeyFolder {
 public:
  explicit KeyFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// The folder's name is half of the key, 128 bits: prefixes end up in "#!" lines, of which older
  /// kernels read 127 characters. The record has the whole key.
  static std::string name_of(const base::Digest& key) { return key.hex.substr(0, 32); }

  const std::filesystem::path& path() const noexcept { return path_; }
  /// What `current` leads to: complete, built at this very place, and with all libraries that it is
  /// linked with. Nothing otherwise.
  std::optional<FoundAttempt> ready() const;
  /// All attempts that wrote down at least how they began, oldest first.
  std::vector<FoundAttempt> attempts() const;

  /// Makes the folder of a new attempt with an empty prefix and an empty work folder.
  AttemptFolder begin() const;
  /// Makes a finished attempt the current one; false where another was quicker.
  bool publish(const AttemptFolder& attempt) const;
  /// Folders of attempts that wrote down nothing, and of images that were never finished, where
  /// these are a day old: who made them was killed.
  std::vector<std::filesystem::path> nameless_remains(base::WallTime now) const;
  /// Removes what no builder will go on with: those remains, failed attempts and those of builders
  /// that are gone, or that are out of sight and began more than `patience` before `now`.
  void remove_remains(base::WallTime now, std::chrono::seconds patience) const;
  /// Removes everything, the link first. Throws Error{storage}.
  void remove() const;

 private:
  std::filesystem::path path_;
};

}  // namespace sabath::env
