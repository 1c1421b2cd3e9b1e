#pragma once

#include "attempt_record.hpp"
#include "key_folder.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/env/environment.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath::env {

/// A layer that was resolved, with what is needed to build it.
struct ResolvedLayer {
  LayerContext context;
  EnvironmentLayer& layer;
  spec::LayerLock lock{};
};

/// Finds and builds the prefixes of layers beneath `root`. Keeps references to what it is given.
class LayerBuilder {
 public:
  LayerBuilder(const std::filesystem::path& root,
               const base::Clock& clock,
               const StoreOptions& options)
      : root_(root), clock_(clock), options_(options) {}

  /// The prefix, if it is ready. Throws Error{environment} where somebody else can write it or a
  /// folder above it; what is in it is looked at before its use.
  std::optional<std::string> find(const spec::LayerLock& lock) const;
  /// The prefix, built if need be; see EnvironmentStore::build.
  std::string build(const ResolvedLayer& wanted,
                    base::Observer& observer,
                    std::stop_token stop,
                    AfterFailure after) const;

 private:
  KeyFolder folder_of(const spec::LayerLock& lock) const;
  void prepare(const KeyFolder& folder,
               const spec::LayerLock& lock,
               base::Observer& observer,
               AfterFailure after) const;
  AttemptRecord begin(const AttemptFolder& attempt, const ResolvedLayer& wanted) const;
  void run(const AttemptFolder& attempt,
           const ResolvedLayer& wanted,
           AttemptRecord& record,
           base::Observer& observer,
           std::stop_token stop) const;

  const std::filesystem::path& root_;
  const base::Clock& clock_;
  const StoreOptions& options_;
};

}  // namespace sabath::env
