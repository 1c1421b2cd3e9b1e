#pragma once

#include "store/attempt_record.hpp"
#include "store/key_folder.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/env/environment.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// A resolved layer, with what its build needs.
struct ResolvedLayer {
  LayerContext context;
  EnvironmentLayer& layer;
  spec::LayerLock lock{};
};

/// Finds and builds the prefixes of layers beneath `root`. Ownership: keeps references to its
/// arguments.
class LayerBuilder {
 public:
  LayerBuilder(const std::filesystem::path& root,
               const base::Clock& clock,
               const StoreOptions& options)
      : root_(root), clock_(clock), options_(options) {}

  /// Returns the prefix if it is ready here or in a lower cache. Throws Error{environment} where
  /// somebody else can write it or a folder above it. Does not check the files in it.
  std::optional<std::string> find(const spec::LayerLock& lock) const;
  /// Returns the same if it also passed the checks of this layer.
  std::optional<std::string> find_checked(const ResolvedLayer& wanted) const;
  /// Returns the prefix and builds it where it is missing; see EnvironmentStore::build.
  std::string build(const ResolvedLayer& wanted,
                    base::Observer& observer,
                    std::stop_token stop,
                    AfterFailure after) const;

 private:
  /// A layer in lower caches.
  struct Below {
    std::optional<FoundAttempt> ready{};
    std::vector<std::string> refused{};  ///< why others are not used
  };
  KeyFolder folder_of(const spec::LayerLock& lock) const;
  std::optional<FoundAttempt> find_ready(const spec::LayerLock& lock) const;
  /// Checks a prefix that was made for another layer of the same key, unless it was checked before.
  void require_expected(const FoundAttempt& ready,
                        const ResolvedLayer& wanted,
                        base::Observer& observer,
                        std::stop_token stop,
                        AfterFailure after) const;
  /// Checks the expectations and keeps the result. Returns the failure, if any.
  std::optional<base::Error> check(const AttemptFolder& attempt,
                                   const ResolvedLayer& wanted,
                                   const LayerBuild& where) const;
  Below look_below(const spec::LayerLock& lock) const;
  void prepare(const KeyFolder& folder,
               const spec::LayerLock& lock,
               base::Observer& observer,
               AfterFailure after) const;
  AttemptRecord begin(const AttemptFolder& attempt, const ResolvedLayer& wanted) const;
  /// Installs and checks. A prefix that fails the check is still ready for other recipes.
  std::optional<base::Error> run(const AttemptFolder& attempt,
                                 const ResolvedLayer& wanted,
                                 AttemptRecord& record,
                                 base::Observer& observer,
                                 std::stop_token stop) const;

  const std::filesystem::path& root_;
  const base::Clock& clock_;
  const StoreOptions& options_;
};

}  // namespace sabath::env
