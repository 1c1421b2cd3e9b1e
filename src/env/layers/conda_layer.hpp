#pragma once

#include "tools/conda_request.hpp"

#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <vector>

namespace sabath::env {

/// Packages of conda channels, exactly those that the lock beside the recipe names, installed with
/// micromamba, mamba or conda. Identified by their digests.
class CondaLayer final : public EnvironmentLayer {
 public:
  /// `user` is the user's whole environment: it says how channels are reached.
  CondaLayer(base::ProcessRunner& processes, base::Environment user);

  spec::LayerKind kind() const override { return spec::LayerKind::conda; }
  std::string_view description() const override { return "packages of conda channels"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) override;
  std::vector<std::string> expectations(const LayerContext& context) override;
  std::map<std::string, std::string> check_expectations(const LayerBuild& build) override;
  bool is_locked(const spec::LayerSpec&) const override { return true; }
  spec::PackageLayerLock lock(const LayerErrand& errand, const LockTarget& target) override;
  std::vector<PinnedFile> fetch(const LayerErrand& errand, const BringFiles& bring) override;
  void describe(const LayerContext& context, spec::BuiltLayer& built) override;

 private:
  std::vector<std::filesystem::path> files_of(const LayerErrand& errand,
                                              const std::vector<CondaPackage>& packages,
                                              const BringFiles& bring);

  base::ProcessRunner& processes_;
  base::Environment user_;
};

}  // namespace sabath::env
