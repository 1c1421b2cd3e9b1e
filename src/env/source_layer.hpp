#pragma once

#include "toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <memory>

namespace sabath::env {

/// Code of the recipe, built with cmake or make and installed into a prefix. Identified by the
/// source's bytes, the build system with its options, and the compilers of its languages.
class SourceLayer final : public EnvironmentLayer {
 public:
  SourceLayer(base::ProcessRunner& processes, std::shared_ptr<Memo> memo);

  spec::LayerKind kind() const override { return spec::LayerKind::source; }
  std::string_view description() const override { return "code built with cmake or make"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) override;

 private:
  std::string digest_of(const std::filesystem::path& source);
  void copy_locked_source(const LayerBuild& build, const std::filesystem::path& to);
  std::map<std::string, std::string> check(const LayerBuild& build,
                                           const base::Environment& environment);

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
  Toolchain toolchain_;
};

}  // namespace sabath::env
