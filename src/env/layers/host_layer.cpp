#include "builtin_layers.hpp"
#include "layer_variables.hpp"
#include "tools/toolchain.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>

namespace sabath::env {
namespace {

class HostLayer final : public EnvironmentLayer {
 public:
  explicit HostLayer(const LayerTools& tools) : toolchain_(tools.processes, tools.memo) {}

  spec::LayerKind kind() const override { return spec::LayerKind::host; }
  std::string_view description() const override { return "programs that the host has"; }
  bool has_prefix() const override { return false; }

  std::map<std::string, std::string> resolve(const LayerContext& context) override {
    std::map<std::string, std::string> facts;
    std::vector<std::string> missing;
    for (const std::string& command : context.spec.commands) {
      if (const auto tool = toolchain_.tool(command, context.variables)) {
        facts["command." + command] = tool->identity;
        // A program that was built again says the same of itself.
        facts["digest." + command] = toolchain_.digest_of(*tool);
      } else {
        missing.push_back(command);
      }
    }
    if (missing.empty()) return facts;
    throw_environment(
        place_of(context.spec.name) + ": not found on PATH: " + base::joined(missing, ", "),
        "install what is missing or load the modules that have it; PATH is '" +
            search_path(context.variables) + "'");
  }

 private:
  Toolchain toolchain_;
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_host_layer(const LayerTools& tools) {
  return std::make_unique<HostLayer>(tools);
}

}  // namespace sabath::env
