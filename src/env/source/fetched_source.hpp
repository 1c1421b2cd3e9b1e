#pragma once

#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace sabath::env {

/// What a lock is the answer to.
base::Digest source_request(const spec::CodeOrigin& origin);

/// Code from a repository or an archive: one file, which the cache keeps.
class FetchedSource {
 public:
  FetchedSource(base::ProcessRunner& processes, const base::Environment& user);

  /// What the lock beside the recipe has; of an archive with a digest what the recipe says. Throws
  /// as read_locked_layer.
  static spec::LockedPackage locked(const LayerContext& context);
  /// Asks what is there now.
  spec::PackageLayerLock lock(const LayerErrand& errand);
  /// Brings the file; returns it with the place where it lies.
  std::pair<PinnedFile, std::filesystem::path> bring(const LayerErrand& errand,
                                                     const BringFiles& bring);

 private:
  /// Fill in what is there now; the first returns the program that was asked.
  std::string lock_commit(const LayerErrand& errand, spec::LockedPackage& package);
  static void lock_archive(const LayerErrand& errand, spec::LockedPackage& package);
  std::filesystem::path download(const LayerErrand& errand,
                                 const spec::LockedPackage& package,
                                 const std::filesystem::path& folder);

  base::ProcessRunner& processes_;
  const base::Environment& user_;
};

/// Unpacks what `bring` gave into an empty folder. Of an archive with one folder at its top, that
/// folder is the source. All files get the same time, so that make does not take what was made
/// from others for older. Returns the folder of the source.
std::filesystem::path unpack_source(const LayerErrand& errand,
                                    const std::filesystem::path& file,
                                    const std::filesystem::path& folder);

}  // namespace sabath::env
