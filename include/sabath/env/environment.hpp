#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/env/environment_image.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/package_lock.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a prefix takes on disk.
struct PrefixSize {
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;

  bool operator==(const PrefixSize&) const = default;
};
PrefixSize measure_prefix(const std::filesystem::path& prefix);

/// One built layer on disk, for `env list` and `env show`.
struct EnvironmentEntry {
  spec::LayerLock lock{};
  std::string state{};  ///< "ready", "failed", "building" or "untrusted"
  std::filesystem::path prefix{};
  std::filesystem::path log{};
  std::string built{};  ///< RFC 3339: when the build began
  double build_s = 0;
  PrefixSize size{};                             ///< when it was built
  std::string problem{};                         ///< one line: why it failed or may not be used
  std::map<std::string, std::string> present{};  ///< tools used, libraries linked
  std::vector<std::string> drift{};              ///< see spec::BuiltLayer::drift
  std::vector<std::string> users{};              ///< processes that use it now
};

/// Says that a process uses an environment, so that nobody removes it: a small file beside each
/// prefix, for as long as the object lives, or the process where `keep` was called. Where the
/// cache may not be written it says nothing.
class EnvironmentLease {
 public:
  explicit EnvironmentLease(const spec::BuiltEnvironment& environment);
  ~EnvironmentLease();
  EnvironmentLease(const EnvironmentLease&) = delete;
  EnvironmentLease& operator=(const EnvironmentLease&) = delete;

  /// For a process that becomes another program.
  void keep() { files_.clear(); }

 private:
  std::vector<std::filesystem::path> files_{};
};

struct StoreOptions {
  /// This user's own: where versions of tools and digests of big trees are remembered, without
  /// which compilers are asked again by every process. Empty: nowhere.
  std::filesystem::path state_directory{};
  base::Trust trust{};
  /// Folders as `root` of other caches: what is ready there is used and nothing of it changed.
  std::vector<std::filesystem::path> lower{};
  BuildLimits limits{};
  /// The user's: PATH, CC, CXX and FC are taken from it, and how package indexes are reached.
  base::Environment environment = base::current_environment();
  /// Where files come from that locks name; nothing: each build downloads its own.
  BringFiles bring{};
};

/// What to do about a build that failed before for the same key.
enum class AfterFailure { refuse, retry };

/// Locks, builds and finds environments beneath `root` (the cache's folder "envs"):
/// <kind>/<key>/<attempt>/ with record.json written last, and `current`, a relative link swapped by
/// rename. Safe for many processes: the
/// loser of a race deletes its own attempt. One thread at a time.
class EnvironmentStore {
 public:
  EnvironmentStore(const std::filesystem::path& root,
                   base::ProcessRunner& processes,
                   const base::Clock& clock,
                   StoreOptions options = {});
  ~EnvironmentStore();
  EnvironmentStore(const EnvironmentStore&) = delete;
  EnvironmentStore& operator=(const EnvironmentStore&) = delete;

  /// Resolves all layers without building any prefix. Throws as `build` does for what is missing.
  spec::EnvironmentLock lock(const spec::EnvironmentSpec& spec,
                             const std::filesystem::path& recipe_directory);
  /// Does `lock` have `layer`? False also for what cannot be resolved here. Nothing is resolved,
  /// and no code looked at, where what is asked for tells already that it cannot be that layer.
  bool resolves_to(const spec::LayerLock& layer,
                   const spec::EnvironmentSpec& spec,
                   const std::filesystem::path& recipe_directory);
  /// The environment, built where it is not ready yet. Throws Error{environment} for a build that
  /// failed before for the same key, unless it is to be tried again; for a missing compiler or
  /// command
  /// (before that layer is built), a build that fails (with the tail of its log), and a prefix that
  /// somebody else can write; Error{not_found|usage} for a source that is not there or is asked for
  /// in a wrong way; Error{storage}; Error{interrupted}, which leaves nothing.
  spec::BuiltEnvironment build(const spec::EnvironmentSpec& spec,
                               const std::filesystem::path& recipe_directory,
                               base::Observer& observer,
                               std::stop_token stop = {},
                               AfterFailure after = AfterFailure::refuse);
  /// Resolves the layers of all variants that are locked beside the recipe. What `known` has for
  /// other platforms is kept where the recipe still asks for the same. Nothing where no layer wants
  /// that. Throws Error{environment|transfer|usage|not_found|interrupted}.
  std::optional<spec::PackageLock> lock_packages(const spec::EnvironmentSpec& spec,
                                                 const std::filesystem::path& recipe_directory,
                                                 const std::optional<spec::PackageLock>& known,
                                                 const LockTarget& target,
                                                 base::Observer& observer,
                                                 std::stop_token stop = {});
  /// Brings all files that locks name, through StoreOptions::bring. Throws as `build`.
  std::vector<PinnedFile> fetch(const spec::EnvironmentSpec& spec,
                                const std::filesystem::path& recipe_directory,
                                base::Observer& observer,
                                std::stop_token stop = {});
  /// The same without building: nothing when a layer is not ready. Of the last prefix only the
  /// folder is looked at: `check_trusted` looks at all of its files, before each use.
  std::optional<spec::BuiltEnvironment> find(const spec::EnvironmentSpec& spec,
                                             const std::filesystem::path& recipe_directory);
  /// As the function of that name, by StoreOptions::trust.
  void check_trusted(const spec::BuiltEnvironment& environment,
                     const std::vector<LocalPrefix>& copies = {}) const;
  /// Of this cache alone, sorted by kind and key.
  std::vector<EnvironmentEntry> list() const;
  /// By unique prefix of the key, of a lower cache where this one has none. Throws
  /// Error{not_found|usage}.
  EnvironmentEntry show(std::string_view key_prefix) const;
  /// Removes the files. Throws as `show`, and Error{environment} while somebody builds or uses it.
  void remove(std::string_view key_prefix);
  /// Layers that may go: not in `used` (whole keys), no layer that one of those stands on, used by
  /// no process, and begun before `cut`.
  std::vector<EnvironmentEntry> garbage(const std::set<std::string>& used,
                                        base::WallTime cut) const;
  /// Folders that belong to no layer and to no process any more: of errands, builds and packing
  /// that were killed.
  std::vector<std::filesystem::path> leftovers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The file beside a recipe that its packages are locked in.
std::filesystem::path lock_file_of(const std::filesystem::path& recipe_directory);

/// Variables for programs that run in `environment`, over `base`: for each layer in order PATH,
/// LD_LIBRARY_PATH, LIBRARY_PATH, CPATH, PKG_CONFIG_PATH and CMAKE_PREFIX_PATH lead to its prefix,
/// then its own variables are set. In these $NAME and ${NAME} stand for the value before the layer
/// and $$ for a dollar. With a pip layer no variable of `base` that leads Python, pip, uv or conda
/// to other packages is left. Throws Error{environment} for a name that is not set.
base::Environment run_variables(const spec::BuiltEnvironment& environment,
                                const base::Environment& base);

/// Where the prefix of a layer is gone that was ready: which, in words.
std::optional<std::string> why_removed(const spec::BuiltEnvironment& environment);
/// Throws Error{environment} with that and the remedy.
void require_present(const spec::BuiltEnvironment& environment);

/// Checks right before use that nobody else can write anything in a prefix of `environment`, or in
/// the copy that is used in its place, or replace a folder above it. Throws Error{environment} that
/// says who can write what, with the remedy as hint, or that the prefix is not there any more.
void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<LocalPrefix>& copies = {},
                   const base::Trust& trust = {});

}  // namespace sabath::env
