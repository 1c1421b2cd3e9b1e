#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a layer needs to know to be locked or built.
struct LayerContext {
  const spec::LayerSpec& spec;
  std::filesystem::path recipe_directory;       ///< {recipe}
  const std::vector<spec::BuiltLayer>& before;  ///< ready layers, in order
  base::Environment variables;  ///< a clean environment with what the layers before set
};

/// One kind of layer (host, source; modules, pip, conda, container later).
class EnvironmentLayer {
 public:
  virtual ~EnvironmentLayer() = default;
  virtual spec::LayerKind kind() const = 0;
  virtual std::string_view description() const = 0;
  /// Resolves what was asked; `facts` of the result are what identifies the layer. Throws
  /// Error{environment|not_found|usage}.
  virtual spec::LayerLock lock(const LayerContext& context) = 0;
  /// Has this kind a prefix that must be built?
  virtual bool has_prefix() const = 0;
  /// Builds into `prefix` (its final path, which exists and is empty), logging to `log`. Throws
  /// Error{environment} with the tail of the log and the path of the rest; Error{interrupted}.
  virtual void build(const LayerContext& context,
                     const spec::LayerLock& lock,
                     const std::filesystem::path& prefix,
                     const std::filesystem::path& log,
                     base::Observer& observer,
                     std::stop_token stop) = 0;
};

/// The only list of layers.
std::vector<std::unique_ptr<EnvironmentLayer>> builtin_layers(base::ProcessRunner& processes);

/// One built layer on disk, for `env list` and `env show`.
struct EnvironmentEntry {
  spec::LayerLock lock{};
  std::string state{};  ///< "ready", "failed", "building" or "untrusted"
  std::filesystem::path prefix{};
  std::filesystem::path log{};
  std::string built{};  ///< RFC 3339
  double build_s = 0;
  std::string problem{};
};

struct BuilderLimits {
  std::chrono::seconds wall{3600};
  std::chrono::seconds silence{900};
};

/// Locks, builds and finds environments under `root` (layout: envs/<kind>/<key>/<attempt>/ with
/// record.json written last, and `current`, a relative link swapped by rename). Safe for many
/// processes: the loser of a race deletes its own attempt.
class EnvironmentStore {
 public:
  EnvironmentStore(std::filesystem::path root,
                   base::ProcessRunner& processes,
                   base::Clock& clock,
                   std::vector<unsigned> trusted_owners = {});
  ~EnvironmentStore();

  /// Resolves all layers without building any prefix.
  spec::EnvironmentLock lock(const spec::EnvironmentSpec& spec,
                             const std::filesystem::path& recipe_directory);
  /// The environment, built where it is not ready yet. Refuses (Error{environment}) a prefix that
  /// somebody else can write. A build that failed before for the same key is tried again, and says
  /// so.
  spec::BuiltEnvironment build(const spec::EnvironmentSpec& spec,
                               const std::filesystem::path& recipe_directory,
                               base::Observer& observer,
                               std::stop_token stop = {});
  /// The same without building: nothing when a layer is not ready.
  std::optional<spec::BuiltEnvironment> find(const spec::EnvironmentSpec& spec,
                                             const std::filesystem::path& recipe_directory);
  std::vector<EnvironmentEntry> list() const;
  /// By unique prefix of the key. Throws Error{not_found|usage}.
  EnvironmentEntry show(std::string_view key_prefix) const;
  void remove(std::string_view key_prefix);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// PATH, LD_LIBRARY_PATH, CPATH and the layers' own variables for programs that run in
/// `environment`, over `base`.
base::Environment run_variables(const spec::BuiltEnvironment& environment,
                                const base::Environment& base);

/// Checks right before use that nobody else can write a prefix of `environment`; Error{environment}
/// otherwise.
void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<unsigned>& trusted_owners = {});

}  // namespace sabath::env
