#pragma once

#include "store/memo.hpp"

#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/loaded_modules.hpp>

#include <memory>

namespace sabath::env {

/// What Lmod or Environment Modules set. The digests of the modulefiles identify it.
class ModulesLayer final : public EnvironmentLayer {
 public:
  /// Of the `user`'s environment only where modules are found is taken.
  ModulesLayer(base::ProcessRunner& processes,
               std::shared_ptr<Memo> memo,
               const base::Environment& user);

  spec::LayerKind kind() const override { return spec::LayerKind::modules; }
  std::string_view description() const override { return "modules of the site"; }
  bool has_prefix() const override { return false; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  void describe(const LayerContext& context, spec::BuiltLayer& built) override;

 private:
  /// Throws Error{environment} for a module that is not there, fails, or does not stay loaded.
  spec::LoadedModules load(const LayerContext& context);

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
  base::Environment user_;
};

}  // namespace sabath::env
