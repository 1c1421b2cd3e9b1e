#pragma once

#include "layers/layer_builder.hpp"

#include <sabath/env/environment.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// What an EnvironmentStore consists of.
struct StoreParts {
  std::filesystem::path root{};
  std::vector<std::unique_ptr<EnvironmentLayer>> layers{};
  const base::Clock& clock;
  StoreOptions options{};

  LayerBuilder builder() const { return {root, clock, options}; }
};

/// Goes through the layers of an environment in order. Each layer sees the variables that the
/// layers before it set.
class LayerWalk {
 public:
  /// Finds or builds the prefix of a layer; nothing ends the walk.
  using PrefixOf = std::function<std::optional<std::string>(const ResolvedLayer&)>;
  /// Locks or fetches a layer that need not be built.
  using Task = std::function<void(EnvironmentLayer&, const LockRequest&)>;

  explicit LayerWalk(const StoreParts& store) : store_(store) {}

  /// Resolves one layer after another. Returns nothing where `prefix_of` ended the walk.
  std::optional<spec::BuiltEnvironment> resolve(const spec::EnvironmentSpec& spec,
                                                const std::filesystem::path& recipe_directory,
                                                const PrefixOf& prefix_of) const;
  /// Runs a task for one layer after another. `locked` has the locks of layers that were locked
  /// before.
  void run(const spec::EnvironmentSpec& spec,
           const std::filesystem::path& recipe_directory,
           base::Observer& observer,
           const std::stop_token& stop,
           const Task& task,
           const spec::PackageLock* locked = nullptr) const;

 private:
  EnvironmentLayer& layer_of(spec::LayerKind kind) const;
  /// Folder of requests: in the cache, or the user's own state where others could exchange files in
  /// the cache. What requests bring is executed.
  std::filesystem::path requests_folder() const;
  /// Checks the last prefix: a layer may execute programs of the layer before it.
  void require_trusted_before(const std::vector<spec::BuiltLayer>& before) const;
  /// Returns a layer with all that is known: the name alone where it is not locked yet.
  spec::BuiltLayer known_layer(const LayerContext& context, EnvironmentLayer& layer) const;

  const StoreParts& store_;
};

}  // namespace sabath::env
