#pragma once

#include "package_list.hpp"
#include "store/memo.hpp"
#include "tools/python.hpp"
#include "tools/toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <memory>
#include <vector>

namespace sabath::env {

/// Python packages in a virtual environment, exactly those that the lock beside the recipe names.
/// Identified by their digests and the Python.
class PipLayer final : public EnvironmentLayer {
 public:
  /// `user` is the user's whole environment: it says how indexes are reached.
  PipLayer(base::ProcessRunner& processes, std::shared_ptr<Memo> memo, base::Environment user);

  spec::LayerKind kind() const override { return spec::LayerKind::pip; }
  std::string_view description() const override { return "Python packages"; }
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
  /// What the lock has for this machine.
  struct Locked {
    Python python{};
    spec::PlatformPackages packages{};
  };
  Locked locked(const LayerContext& context);
  std::vector<std::filesystem::path> files_of(const LayerErrand& errand,
                                              const Locked& locked,
                                              const BringFiles& bring);

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
  Toolchain toolchain_;
  base::Environment user_;
};

}  // namespace sabath::env
