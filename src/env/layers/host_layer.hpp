#pragma once

#include "tools/toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

namespace sabath::env {

/// What the host has: programs that must be found on PATH. No prefix; they are identified by what
/// they say of themselves.
class HostLayer final : public EnvironmentLayer {
 public:
  explicit HostLayer(Toolchain toolchain) : toolchain_(std::move(toolchain)) {}

  spec::LayerKind kind() const override { return spec::LayerKind::host; }
  std::string_view description() const override { return "programs that the host has"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const override { return false; }

 private:
  Toolchain toolchain_;
};

}  // namespace sabath::env
