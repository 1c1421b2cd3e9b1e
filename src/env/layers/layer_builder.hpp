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

  /// The prefix, if it is ready here or in a lower cache. Throws Error{environment} where somebody
  /// else can write it or a folder above it here; what is in it is looked at before its use.
  std::optional<std::string> find(const spec::LayerLock& lock) const;
  /// The same, if it was also found to be what this layer expects of it.
  std::optional<std::string> find_checked(const ResolvedLayer& wanted) const;
  /// The prefix, built if need be; see EnvironmentStore::build.
  std::string build(const ResolvedLayer& wanted,
                    base::Observer& observer,
                    std::stop_token stop,
                    AfterFailure after) const;

 private:
  /// What lower caches have of a layer.
  struct Below {
    std::optional<FoundAttempt> ready{};
    std::vector<std::string> refused{};  ///< why others may not be used
  };
  KeyFolder folder_of(const spec::LayerLock& lock) const;
  std::optional<FoundAttempt> find_ready(const spec::LayerLock& lock) const;
  /// Checks a prefix that was made for another layer of the same key, unless that was done before.
  void require_expected(const FoundAttempt& ready,
                        const ResolvedLayer& wanted,
                        base::Observer& observer,
                        std::stop_token stop,
                        AfterFailure after) const;
  /// What does not meet the expectations is kept as that, and returned.
  std::optional<base::Error> check(const AttemptFolder& attempt,
                                   const ResolvedLayer& wanted,
                                   const LayerBuild& where) const;
  Below look_below(const spec::LayerLock& lock) const;
  void prepare(const KeyFolder& folder,
               const spec::LayerLock& lock,
               base::Observer& observer,
               AfterFailure after) const;
  AttemptRecord begin(const AttemptFolder& attempt, const ResolvedLayer& wanted) const;
  /// Installs, and checks: a prefix that does not meet the expectations is ready all the same, for
  /// others.
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
