#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/package_lock.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What may be taken for one layer, of what its tools are otherwise given: building an hour for all
/// steps together and 15 minutes without a line in the log, others as each needs.
struct BuildLimits {
  std::optional<std::chrono::seconds> wall{};
  std::optional<std::chrono::seconds> silence{};
  int jobs = 0;  ///< parallel compilations; 0: the CPUs of this process
};

/// Where no limit is settled for a build.
constexpr std::chrono::hours usual_build_time{1};
constexpr std::chrono::minutes usual_silence{15};

/// A file that a lock names. Where it comes from is no part of that.
struct PinnedFile {
  std::string name{};
  base::Digest digest{};
  std::string what{};               ///< for people: "numpy 1.26.4"
  std::vector<std::string> urls{};  ///< mirrors of it; nothing: only the layer's tool can bring it
};

/// Brings files that have no URL into an empty folder and returns where they lie there, in order.
using Download = std::function<std::vector<std::filesystem::path>(
    const std::vector<PinnedFile>&, const std::filesystem::path& folder)>;
/// Gives the path of each file, in order, with the right bytes: of a cache, or by `Download`.
using BringFiles = std::function<std::vector<std::filesystem::path>(
    const std::vector<PinnedFile>&, const Download&, base::Observer&, std::stop_token)>;

/// For which machine packages are resolved; empty: for this one and the layer's Python.
struct LockTarget {
  std::string platform{};  ///< "linux-aarch64"
  std::string python{};    ///< "3.12"
};

/// What a layer sees when it is resolved or built.
struct LayerContext {
  const spec::LayerSpec& spec;
  std::filesystem::path recipe_directory{};     ///< {recipe}
  const std::vector<spec::BuiltLayer>& before;  ///< in order; resolved, and ready when it builds
  /// The complete environment of every program that the layer starts: a clean one with what the
  /// layers before and this layer itself set. Of the user's own only PATH, CC, CXX and FC are left.
  base::Environment variables{};
  /// What was locked just now and is not written yet, or what was read; nothing: the file beside
  /// the recipe has it.
  const spec::PackageLock* locked = nullptr;
  /// Of what the layers before set, that which would lead Python to other packages than this layer
  /// locks: PYTHONPATH and PYTHONHOME. Not among `variables`.
  base::Environment left_out{};
  /// What the recipe's stages set over all layers, as far as it is known; for checks alone.
  std::map<std::string, std::string> stage_variables{};
};

/// One attempt to build a layer.
struct LayerBuild {
  const LayerContext& context;
  const spec::LayerLock& lock;
  std::filesystem::path prefix{};  ///< its final place: exists, is empty, never moves
  std::filesystem::path work{};  ///< scratch of this attempt alone: exists, is empty, removed later
  std::filesystem::path log{};   ///< everything that the build says is appended here
  BuildLimits limits{};
  base::Observer& observer;
  std::stop_token stop{};
  BringFiles bring{};  ///< nothing: each file is downloaded
};

/// What a layer needs to resolve its packages, or to fetch them before it is built.
struct LayerErrand {
  const LayerContext& context;
  std::filesystem::path work{};  ///< scratch: exists, is empty, removed later
  base::Observer& observer;
  std::stop_token stop{};
  BringFiles bring{};  ///< as of LayerBuild; a file without a digest is brought as it is now
  BuildLimits limits{};
};

/// One kind of layer. Implementations hold no state of one environment, so that one object serves
/// all; one thread at a time.
class EnvironmentLayer {
 public:
  virtual ~EnvironmentLayer() = default;
  virtual spec::LayerKind kind() const = 0;
  /// For lists: "programs that the host has".
  virtual std::string_view description() const = 0;
  /// What identifies the layer: equal facts mean an interchangeable layer, on another machine too,
  /// so no paths of this one. Runs before every run: must take milliseconds the second time. Throws
  /// Error{environment|not_found|usage} for what cannot be had; builds nothing.
  virtual std::map<std::string, std::string> resolve(const LayerContext& context) = 0;
  /// Has this kind a prefix that must be built?
  virtual bool has_prefix() const = 0;
  /// Builds into `build.prefix`, writes nowhere else but `build.work` and `build.log`, and checks
  /// that the result is what identifies the layer. Returns what was used and is present now, for
  /// the record; it identifies nothing. Throws Error{environment} with the tail of the log and its
  /// path; Error{interrupted}. Called only where `has_prefix()`.
  virtual std::map<std::string, std::string> build(const LayerBuild& build);
  /// What the layer as it is asked for here expects of a finished prefix and what does not identify
  /// it ("import numpy", "command pip"): others with the same key may expect something else.
  /// Nothing: there is nothing to check.
  virtual std::vector<std::string> expectations(const LayerContext& context);
  /// Checks a finished prefix, which is read-only, for them; writes nowhere but `build.work` and
  /// `build.log`. Returns what it found in use and outside of the prefix
  /// ("library.libm.so.6"). Throws as `build`. Called only where something is expected.
  virtual std::map<std::string, std::string> check_expectations(const LayerBuild& build);

  /// Is what the layer consists of resolved on demand only, by `lock`, and kept in a file beside
  /// the recipe that `resolve` reads? So it is where packages, images or code come from elsewhere.
  virtual bool is_locked(const spec::LayerSpec& spec) const;
  /// Resolves a layer that is locked. Throws Error{environment|transfer|usage}.
  virtual spec::PackageLayerLock lock(const LayerErrand& errand, const LockTarget& target);
  /// Brings what the lock names, so that a build needs no network. Throws
  /// Error{transfer|integrity}.
  virtual std::vector<PinnedFile> fetch(const LayerErrand& errand, const BringFiles& bring);
  /// Adds to `built`, whose lock and prefix are known, what a record should have of it.
  virtual void describe(const LayerContext& context, spec::BuiltLayer& built);
};

/// The only list of layers. What is slow to find out (versions of tools, digests of big trees) is
/// remembered in `state_directory`, which must be this user's own; empty: in this object alone. Of
/// the `user`'s environment only where modules are found and how package indexes are reached is
/// taken.
std::vector<std::unique_ptr<EnvironmentLayer>> builtin_layers(
    base::ProcessRunner& processes,
    const base::Clock& clock,
    const std::filesystem::path& state_directory = {},
    const base::Environment& user = {});

}  // namespace sabath::env
