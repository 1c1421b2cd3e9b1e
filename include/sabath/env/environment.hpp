#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/env/prefix.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/package_lock.hpp>

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

/// One layer on disk, for `env list` and `env show`.
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

/// Marks an environment as used by this process, so that nobody removes it: a small file beside
/// each prefix. Lasts as long as the object, or as the process after `keep`. Does nothing in a
/// read-only cache.
class EnvironmentLease {
 public:
  explicit EnvironmentLease(const spec::BuiltEnvironment& environment);
  ~EnvironmentLease();
  EnvironmentLease(const EnvironmentLease&) = delete;
  EnvironmentLease& operator=(const EnvironmentLease&) = delete;

  /// Keeps the mark for a process that executes another program.
  void keep() { files_.clear(); }

 private:
  std::vector<std::filesystem::path> files_{};
};

struct StoreOptions {
  /// This user's own folder for remembered versions of tools and digests of big trees. Empty: every
  /// process asks the compilers again.
  std::filesystem::path state_directory{};
  base::Trust trust{};
  /// The `root` of other caches. Ready layers there are used; nothing there is changed.
  std::vector<std::filesystem::path> lower{};
  BuildLimits limits{};
  /// The user's environment: gives PATH, CC, CXX, FC and the access to package indexes.
  base::Environment environment = base::current_environment();
  /// Brings the files that locks name. Layers whose files are not fetched need none.
  BringFiles bring{};
};

/// Whether to build a key again whose build failed before.
enum class AfterFailure { refuse, retry };

/// Locks, builds and finds environments beneath `root` (the cache's folder "envs"). Layout:
/// <kind>/<key>/<attempt>/ with record.json written last, and `current`, a relative link swapped by
/// rename. Thread safety: one thread at a time; safe for many processes: the loser of a race
/// deletes its own attempt.
class EnvironmentStore {
 public:
  EnvironmentStore(const std::filesystem::path& root,
                   base::ProcessRunner& processes,
                   const base::Clock& clock,
                   StoreOptions options = {});
  ~EnvironmentStore();
  EnvironmentStore(const EnvironmentStore&) = delete;
  EnvironmentStore& operator=(const EnvironmentStore&) = delete;

  /// Resolves all layers without building a prefix. Throws as `build` for missing tools or files.
  spec::EnvironmentLock lock(const spec::EnvironmentSpec& spec,
                             const std::filesystem::path& recipe_directory);
  /// Returns true where `lock` would have `layer`; false also where it cannot be resolved here.
  /// Resolves nothing where the request alone excludes the layer.
  bool resolves_to(const spec::LayerLock& layer,
                   const spec::EnvironmentSpec& spec,
                   const std::filesystem::path& recipe_directory);
  /// Returns the environment and builds missing layers. Throws Error{environment} for a failed
  /// build (with the tail of its log), also an earlier one unless it is retried. Throws it, too,
  /// for a missing compiler or command and for a prefix that somebody else can write. Throws
  /// Error{not_found|usage} for a missing or wrong source, Error{storage}, and Error{interrupted},
  /// which leaves nothing behind.
  spec::BuiltEnvironment build(const spec::EnvironmentSpec& spec,
                               const std::filesystem::path& recipe_directory,
                               base::Observer& observer,
                               std::stop_token stop = {},
                               AfterFailure after = AfterFailure::refuse);
  /// Resolves the locked layers of all variants. Keeps the locks of `known` for other platforms
  /// where the recipe still asks for the same. Returns nothing where no layer is locked. Throws
  /// Error{environment|transfer|usage|not_found|interrupted}.
  std::optional<spec::PackageLock> lock_packages(const spec::EnvironmentSpec& spec,
                                                 const std::filesystem::path& recipe_directory,
                                                 const std::optional<spec::PackageLock>& known,
                                                 const LockTarget& target,
                                                 base::Observer& observer,
                                                 std::stop_token stop = {});
  /// Brings all files that locks name, by StoreOptions::bring. Throws as `build`.
  std::vector<PinnedFile> fetch(const spec::EnvironmentSpec& spec,
                                const std::filesystem::path& recipe_directory,
                                base::Observer& observer,
                                std::stop_token stop = {});
  /// Returns the environment where all layers are ready, else nothing. Checks only the folder of
  /// the last prefix: call `check_trusted` before each use.
  std::optional<spec::BuiltEnvironment> find(const spec::EnvironmentSpec& spec,
                                             const std::filesystem::path& recipe_directory);
  /// Calls the function of that name with StoreOptions::trust.
  void check_trusted(const spec::BuiltEnvironment& environment,
                     const std::vector<LocalPrefix>& copies = {}) const;
  /// Returns the layers of this cache, sorted by kind and key.
  std::vector<EnvironmentEntry> list() const;
  /// Returns the layer whose key has this unique prefix, here or else in a lower cache. Throws
  /// Error{not_found|usage}.
  EnvironmentEntry show(std::string_view key_prefix) const;
  /// Removes a layer. Throws as `show`, and Error{environment} while a process builds or uses it.
  void remove(std::string_view key_prefix);
  /// Returns removable layers: not in `used` (whole keys), not beneath a layer that stays, used by
  /// no process, and begun before `cut`.
  std::vector<EnvironmentEntry> garbage(const std::set<std::string>& used,
                                        base::WallTime cut) const;
  /// Returns folders of requests, builds and packing that were killed.
  std::vector<std::filesystem::path> leftovers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the lock file beside a recipe.
std::filesystem::path lock_file_of(const std::filesystem::path& recipe_directory);

/// Returns the variables for programs that run in `environment`, based on `base`. For each layer in
/// order, PATH, LD_LIBRARY_PATH, LIBRARY_PATH, CPATH, PKG_CONFIG_PATH and CMAKE_PREFIX_PATH get its
/// prefix in front; then its own variables are set. In these, $NAME and ${NAME} are the value
/// before the layer and $$ is a dollar. Layers of packages remove variables of `base` that lead
/// Python, pip, uv or conda to other packages. Throws Error{environment} for a name that is not
/// set.
base::Environment run_variables(const spec::BuiltEnvironment& environment,
                                const base::Environment& base);

}  // namespace sabath::env
