#pragma once

#include "builtin_layers.hpp"

#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// Packages, exactly those that the lock beside the recipe names. Identified by their digests. The
/// engines are pip and conda.
class PackageLayer : public EnvironmentLayer {
 public:
  using Packages = std::vector<spec::LockedPackage>;

  explicit PackageLayer(const LayerTools& tools) : processes_(tools.processes), user_(tools.user) {}

  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const final { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) final;
  std::vector<std::string> expectations(const LayerContext& context) final;
  bool is_locked(const spec::LayerSpec& /*spec*/) const final { return true; }
  std::vector<PinnedFile> fetch(const LockRequest& request) final;
  void describe(const LayerContext& context, spec::BuiltLayer& built) override;

 protected:
  /// Returns the packages of the lock for this machine. Throws Error{environment|usage}.
  virtual Packages locked(const LayerContext& context) = 0;
  /// Returns the names of the packages that the recipe asks for.
  virtual std::set<std::string> requested(const LayerContext& context) = 0;
  /// Returns a download by the engine's program; empty where all packages have URLs. Keeps
  /// references to the arguments.
  virtual Download download(const LockRequest& /*request*/, const Packages& /*packages*/) {
    return {};
  }
  /// Warns of packages that run code of others when they are installed.
  virtual void announce(const LockRequest& /*request*/, const Packages& /*packages*/) const {}
  /// Installs files, one for each package, and checks that exactly these packages are there.
  /// Returns what was used. Throws as `build`.
  virtual std::map<std::string, std::string> install(
      const LayerBuild& build,
      const Packages& packages,
      const std::vector<std::filesystem::path>& files) = 0;
  /// Returns name -> version of the packages in a prefix.
  virtual std::map<std::string, std::string> installed(
      const std::filesystem::path& prefix) const = 0;

  std::vector<std::filesystem::path> bring(const LockRequest& request, const Packages& packages);
  static std::map<std::string, std::string> facts_of(const Packages& packages);

  base::ProcessRunner& processes_;
  base::Environment user_;
};

}  // namespace sabath::env
