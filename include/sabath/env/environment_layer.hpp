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

/// Limits for one layer. By default a build takes at most an hour for all steps and 15 minutes
/// without output; other tools have limits of their own.
struct BuildLimits {
  std::optional<std::chrono::seconds> wall{};
  std::optional<std::chrono::seconds> silence{};
  int jobs = 0;  ///< parallel compilations; 0: the CPUs of this process
};

/// Limits of a build where none are set.
constexpr std::chrono::hours usual_build_time{1};
constexpr std::chrono::minutes usual_silence{15};

/// A file that a lock names by its digest.
struct PinnedFile {
  std::string name{};
  base::Digest digest{};
  std::string what{};               ///< for people: "numpy 1.26.4"
  std::vector<std::string> urls{};  ///< mirrors; empty: only the layer's tool can download it
};

/// Downloads files without a URL into an empty folder. Returns their paths, in order.
using Download = std::function<std::vector<std::filesystem::path>(
    const std::vector<PinnedFile>&, const std::filesystem::path& folder)>;
/// Returns the path of each file, in order, with verified bytes: from a cache, or by `Download`.
using BringFiles = std::function<std::vector<std::filesystem::path>(
    const std::vector<PinnedFile>&, const Download&, base::Observer&, std::stop_token)>;

/// Machine for which packages are resolved; empty: this machine and the layer's Python.
struct LockTarget {
  std::string platform{};  ///< "linux-aarch64"
  std::string python{};    ///< "3.12"
};

/// Surroundings of a layer that is resolved or built.
struct LayerContext {
  const spec::LayerSpec& spec;
  std::filesystem::path recipe_directory{};  ///< {recipe}
  const std::vector<spec::BuiltLayer>&
      before;  ///< in order; resolved, and ready when this layer builds.
  /// Complete environment of every program that the layer starts: a clean one with the variables of
  /// the layers before and of this layer. Keeps only PATH, CC, CXX and FC of the user.
  base::Environment variables{};
  /// Locks that are not written yet or were read before; null: read the file beside the recipe.
  const spec::PackageLock* locked = nullptr;
  /// Variables of the layers before that would lead Python to other packages: PYTHONPATH and
  /// PYTHONHOME. Not among `variables`.
  base::Environment left_out{};
  /// Variables that the recipe's stages set, as far as known; for checks alone.
  std::map<std::string, std::string> stage_variables{};
};

/// A request to lock the packages of a layer, or to fetch them before it is built.
struct LockRequest {
  const LayerContext& context;
  std::filesystem::path work{};  ///< scratch: exists, is empty, removed later
  base::Observer& observer;
  std::stop_token stop{};
  BringFiles bring{};  ///< a file without a digest is brought in its present state
  BuildLimits limits{};
};

/// One attempt to build a layer. Its `work` is of this attempt alone.
struct LayerBuild : LockRequest {
  const spec::LayerLock& lock;
  std::filesystem::path prefix{};  ///< final place: exists, is empty, never moves
  std::filesystem::path log{};     ///< output of the build is appended here
};

/// One kind of layer. Holds no state of an environment, so that one object serves all. Thread
/// safety: one thread at a time.
class EnvironmentLayer {
 public:
  virtual ~EnvironmentLayer() = default;
  virtual spec::LayerKind kind() const = 0;
  /// Returns words for lists: "programs that the host has".
  virtual std::string_view description() const = 0;
  /// Returns the facts that identify the layer. Equal facts mean an interchangeable layer, on
  /// another machine too, so they have no paths of this one. Called before every run: must take
  /// milliseconds the second time. Builds nothing. Throws Error{environment|not_found|usage} for
  /// missing tools or files.
  virtual std::map<std::string, std::string> resolve(const LayerContext& context) = 0;
  /// Returns true for kinds with a prefix that must be built.
  virtual bool has_prefix() const = 0;
  /// Throws Error{environment} where programs that `build` starts are missing, and names all.
  /// Called before a build, so that a missing program does not count as a failed build.
  virtual void require_tools(const LayerContext& /*context*/) {}
  /// Builds into `build.prefix` and checks that the result has the identifying facts. Writes
  /// elsewhere only `build.work` and `build.log`. Returns what was used and is present, for the
  /// record only. Throws Error{environment} with the tail of the log and its path;
  /// Error{interrupted}. Called only where `has_prefix()`.
  virtual std::map<std::string, std::string> build(const LayerBuild& /*build*/) { return {}; }
  /// Returns what this recipe expects of a finished prefix beyond its facts ("import numpy",
  /// "command pip"). Other recipes with the same key may expect something else. Empty: nothing to
  /// check.
  virtual std::vector<std::string> expectations(const LayerContext& /*context*/) { return {}; }
  /// Checks these expectations of a finished, read-only prefix. Writes only `build.work` and
  /// `build.log`. Returns what the prefix uses from outside ("library.libm.so.6"). Throws as
  /// `build`. Called only where something is expected.
  virtual std::map<std::string, std::string> check_expectations(const LayerBuild& /*build*/) {
    return {};
  }

  /// Returns true where `lock` resolves the content of the layer on demand into the file beside the
  /// recipe, which `resolve` reads: for packages, images and code from elsewhere.
  virtual bool is_locked(const spec::LayerSpec& /*spec*/) const { return false; }
  /// Returns the digest of what the recipe asks of a locked layer, as its lock names it. Reads
  /// files of the recipe alone.
  virtual base::Digest request_digest(const LayerContext& /*context*/) { return {}; }
  /// Resolves the content of a locked layer. Throws Error{environment|transfer|usage}.
  virtual spec::PackageLayerLock lock(const LockRequest& request, const LockTarget& /*target*/) {
    return {kind(), request.context.spec.name, {}, {}};
  }
  /// Brings the files that the lock names, so that a build needs no network. Throws
  /// Error{transfer|integrity}.
  virtual std::vector<PinnedFile> fetch(const LockRequest& /*request*/) { return {}; }
  /// Adds what a record should have to `built`, whose lock and prefix are known.
  virtual void describe(const LayerContext& /*context*/, spec::BuiltLayer& /*built*/) {}
};

/// Returns all kinds of layers. Remembers versions of tools and digests of big trees in
/// `state_directory`, which must be this user's own; empty: in this object alone. Takes from the
/// `user`'s environment only where modules are found and how package indexes are reached.
std::vector<std::unique_ptr<EnvironmentLayer>> builtin_layers(
    base::ProcessRunner& processes,
    const base::Clock& clock,
    const std::filesystem::path& state_directory = {},
    const base::Environment& user = {});

}  // namespace sabath::env
