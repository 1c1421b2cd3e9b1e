#pragma once

#include "store/memo.hpp"
#include "tools/container_engine.hpp"
#include "tools/toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <memory>
#include <vector>

namespace sabath::env {

/// An image of a registry, exactly the one whose digest is locked beside the recipe. Apptainer and
/// Singularity get a file of it in the prefix; for podman and docker the prefix has an OCI layout,
/// out of which each user's own store is filled. What runs in it is started by container_command.
class ContainerLayer final : public EnvironmentLayer {
 public:
  /// `user` is the user's whole environment: it says where engines keep images and logins.
  ContainerLayer(base::ProcessRunner& processes,
                 std::shared_ptr<Memo> memo,
                 base::Environment user);

  spec::LayerKind kind() const override { return spec::LayerKind::container; }
  std::string_view description() const override { return "an image of a container"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) override;
  std::vector<std::string> expectations(const LayerContext& context) override;
  std::map<std::string, std::string> check_expectations(const LayerBuild& build) override;
  bool is_locked(const spec::LayerSpec& /*spec*/) const override { return true; }
  spec::PackageLayerLock lock(const LayerErrand& errand, const LockTarget& target) override;
  std::vector<PinnedFile> fetch(const LayerErrand& errand, const BringFiles& bring) override;
  void describe(const LayerContext& context, spec::BuiltLayer& built) override;

 private:
  ImageTools tools_for(const LayerErrand& errand, std::filesystem::path log = {}) const;

  base::ProcessRunner& processes_;
  Toolchain toolchain_;
  base::Environment user_;
};

}  // namespace sabath::env
